// Numbers that look like luck, and are the same in every run.

export type Draw = ReturnType<typeof drawing>;

/** Draws from this seed (mulberry32). */
export function drawing(seed: number) {
  let state = seed;

  /** A number from 0 up to and without 1. */
  function next(): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  return {
    /** A whole number from 0 up to and without `end`. */
    below: (end: number) => Math.floor(next() * end),
    /** One of them. */
    oneOf: <Item>(items: readonly Item[]) => items[Math.floor(next() * items.length)] as Item,
  };
}
