// Freezes the built-ins of JavaScript and the browser before any lock runs: the lab uses them, so no lock may change them.

/** Code assigns these on its own objects, as in `error.name = 'MyError'`: that must still work. */
const GIVEN_ANEW = new Set<unknown>('name message random toString valueOf constructor hasOwnProperty'.split(' '));

const browser = globalThis as { Iterator?: { from(of: object): unknown }; scheduler?: unknown };

/** Objects that are reachable only without a name or through a getter. */
const nameless = [
  async () => {},
  function* () {},
  async function* () {},
  [][Symbol.iterator](),
  new Map()[Symbol.iterator](),
  new Set()[Symbol.iterator](),
  ''[Symbol.iterator](),
  ''.matchAll(/_/g),
  // Not every browser has these.
  ([].values() as { map?(each: unknown): unknown }).map?.(String),
  browser.Iterator?.from({ next() {} }),
  browser.scheduler,
  performance,
  crypto,
];

/** From now on, writing to any of it throws a TypeError. New properties on own objects and new globals are still allowed. */
export function freezeRealm() {
  const seen = new Set<unknown>();
  const freeze = (value: unknown) => {
    if (Object(value) !== value || seen.has(value)) return;
    seen.add(value);
    const owner = value as object;
    for (const name of Reflect.ownKeys(owner)) fix(owner, name);
    freeze(Object.getPrototypeOf(owner));
    if (owner === Error) Object.preventExtensions(owner);
    else if (owner !== globalThis) Object.freeze(owner);
  };
  function fix(owner: object, name: string | symbol) {
    const { get, set, value, writable, configurable } = Object.getOwnPropertyDescriptor(owner, name) ?? {};
    for (const each of [get, set, value]) freeze(each);
    if (!configurable) return;
    const isGivenAnew = writable && isInherited(owner) && GIVEN_ANEW.has(name);
    // How much of a stack is noted decides nothing: code may set it.
    const isFree = !writable || name === 'stackTraceLimit';
    const fixed = isGivenAnew ? inherited(owner, name, value) : isFree ? {} : { writable: false };
    Object.defineProperty(owner, name, { ...fixed, configurable: false });
  }
  freeze(nameless);
  freeze(globalThis);
}

/** The objects from which those names are inherited. All others keep plain values, which engines handle fast. */
const isInherited = (owner: object) =>
  [Object.prototype, Error.prototype, Math].includes(owner) || owner instanceof Error;

/** A value that an inheriting object may override. */
const inherited = (owner: object, name: string | symbol, value: unknown): PropertyDescriptor => ({
  get: () => value,
  set(own: unknown) {
    if (this === owner) throw new TypeError(`A lock may not change ${String(name)} here.`);
    Object.defineProperty(this, name, { value: own, writable: true, enumerable: true, configurable: true });
  },
});
