// Idempotency · in-process
// Problem: one purchase creates two orders.
// Change:  this process remembers each key that it has received, and its response.
// Leaves:  the other node does not know the key, and neither does this one after a restart.

import { createKeyMemory } from './key-memory.ts';
import { type Answer, type CreateOnce, failedForGood, repeat, succeeded } from './once.ts';

interface First {
  fingerprint: string;
  /** Undefined while the first request runs. */
  answer: Answer | undefined;
}

export const createOnce: CreateOnce = ({ keepMs }) => {
  const firsts = createKeyMemory<First>(100_000);

  return async (request, work) => {
    const { key, fingerprint } = request;
    const before = firsts.get(key);
    if (before) return repeat(before, request);

    const first: First = { fingerprint, answer: undefined };
    firsts.set(key, first, keepMs);
    try {
      first.answer = succeeded(await work());
      return first.answer;
    } catch (error) {
      first.answer = failedForGood(error);
      if (first.answer === undefined && firsts.get(key) === first) firsts.forget(key);
      throw error;
    }
  };
};
