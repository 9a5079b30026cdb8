// Numbers the states that a search has seen: equal states have equal numbers.
//
// A state is known by a row of numbers (`writeKey`). The rows stand one after the other in one array, and a table of slots says which row
// is where: a row is looked for from the slot of its hash on, up to an empty one. So a search of a million states has no million texts,
// which would have to be made, hashed and kept.

import type { Server } from './server.ts';
import { keyLength, type State, writeKey } from './state.ts';

/** So many slots there are at first: a power of two. */
const FIRST_SLOTS = 1_024;

export type KnownStates = ReturnType<typeof createKnownStates>;

/** All states of a search have as many servers and processes as the first. */
export function createKnownStates(first: State, server: Server) {
  const length = keyLength(first);
  const key = new Float64Array(length);
  /** In each the number of a state and 1, or 0. Half of them are empty. */
  let slots = new Int32Array(FIRST_SLOTS);
  let rows = new Float64Array((FIRST_SLOTS / 2) * length);
  let size = 0;

  /** The slot of a row, or the empty one where it would be. */
  function slotOf(row: Float64Array, from: number): number {
    const mask = slots.length - 1;
    let slot = hashOf(row, from, length) & mask;
    for (let there = slots[slot] as number; there > 0; there = slots[slot] as number) {
      let at = 0;
      for (const begin = (there - 1) * length; at < length && rows[begin + at] === row[from + at]; ) at += 1;
      if (at === length) return slot;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  function grow() {
    slots = new Int32Array(slots.length * 2);
    const longer = new Float64Array((slots.length / 2) * length);
    longer.set(rows);
    rows = longer;
    for (let number = 0; number < size; number += 1) slots[slotOf(rows, number * length)] = number + 1;
  }

  return {
    size: () => size,
    /** The number of a state; -1 when it was not seen. */
    numberOf(state: State): number {
      writeKey(state, server, key);
      return (slots[slotOf(key, 0)] as number) - 1;
    },
    /** The number of a state. One that was not seen has the next: it is `size()` before. */
    add(state: State): number {
      writeKey(state, server, key);
      const slot = slotOf(key, 0);
      const there = slots[slot] as number;
      if (there > 0) return there - 1;
      slots[slot] = size + 1;
      rows.set(key, size * length);
      size += 1;
      if (size * 2 >= slots.length) grow();
      return size - 1;
    },
  };
}

function hashOf(row: Float64Array, from: number, length: number): number {
  let hash = 0;
  for (let at = from; at < from + length; at += 1) {
    hash = Math.imul(hash ^ ((row[at] as number) | 0), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  return hash;
}
