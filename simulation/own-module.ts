// A process's own copy of a Node module. A process may write to it, and neither the lab nor another process sees that.

export type Members = Record<string, unknown>;
/** The value of a member, or a function that computes it on first use. */
export type Member = { value: unknown } | { get: () => unknown };
type Callable = (...args: unknown[]) => unknown;

const ofFunctions = /^(length|name|prototype|arguments|caller)$/;
const common: unknown[] = [Object.prototype, Function.prototype, null];

/** The names of an object's own and inherited members. */
export function namesIn(real: object): string[] {
  const names = new Set<string>();
  for (let each = real; !common.includes(each); each = Object.getPrototypeOf(each)) {
    for (const name of Object.getOwnPropertyNames(each)) names.add(name);
  }
  return [...names].filter((name) => name !== 'constructor' && !(typeof real === 'function' && ofFunctions.test(name)));
}

/** An object, or a function if the real one is, with these members, which can be changed freely. */
export function ownVersion(real: object, names: Iterable<string>, memberOf: (name: string) => Member): object {
  const own = typeof real === 'function' ? calling(real as Callable) : {};
  for (const name of names) {
    const isHidden = Object.getOwnPropertyDescriptor(real, name)?.enumerable === false;
    const more = { enumerable: !isHidden, configurable: true };
    const member = memberOf(name);
    Object.defineProperty(
      own,
      name,
      'get' in member ? { ...lazy(name, member.get), ...more } : { ...member, writable: true, ...more },
    );
  }
  for (const symbol of Object.getOwnPropertySymbols(real)) {
    Object.defineProperty(own, symbol, { value: Reflect.get(real, symbol), writable: true, configurable: true });
  }
  return own;
}

/** It is the same from the first time on. What is written takes its place. */
const lazy = (name: string, find: () => unknown) => {
  let found: { value: unknown } | undefined;
  return {
    get() {
      found ??= { value: find() };
      return found.value;
    },
    set(this: object, value: unknown) {
      Object.defineProperty(this, name, { value, writable: true, enumerable: true, configurable: true });
    },
  };
};

/** A function that does what this one does, also as a class. */
function calling(real: Callable): Callable {
  const own = function (this: unknown, ...args: unknown[]): unknown {
    return new.target ? Reflect.construct(real, args, new.target) : Reflect.apply(real, this, args);
  };
  own.prototype = real.prototype;
  return own;
}
