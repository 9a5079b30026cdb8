// What JavaScript and the browser bring, as it was before any lock ran: the lab itself goes by it, so no lock may change it.

/** Code gives its own objects other values of these by assignment, as in `error.name = 'MyError'`: that must go on to work. */
const GIVEN_ANEW = new Set<unknown>('name message random toString valueOf constructor hasOwnProperty'.split(' '));

const browser = globalThis as { Iterator?: { from(of: object): unknown }; scheduler?: unknown };

/** What no name leads to, or a getter. */
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

/** From now on who writes to any of it gets a TypeError. What is new has its place, on objects of its own and as a global. */
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

/** Where objects inherit those names from. All others keep plain values, with which engines are fast. */
const isInherited = (owner: object) =>
  [Object.prototype, Error.prototype, Math].includes(owner) || owner instanceof Error;

/** A value that an object which inherits it may replace by its own. */
const inherited = (owner: object, name: string | symbol, value: unknown): PropertyDescriptor => ({
  get: () => value,
  set(own: unknown) {
    if (this === owner) throw new TypeError(`No lock may change ${String(name)} here.`);
    Object.defineProperty(this, name, { value: own, writable: true, enumerable: true, configurable: true });
  },
});
