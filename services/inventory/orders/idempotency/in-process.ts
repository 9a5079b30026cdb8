// Idempotency · in-process
// Problem: one purchase makes two orders.
// Change:  this process remembers each key that has come to it, and what it answered.
// Leaves:  the other node does not know the key, nor does this one after a restart.

import { type Answer, type CreateOnce, failedForGood, repeat, succeeded } from './once.ts';

/** How many keys it remembers at most. The oldest go first. */
export const MOST_KEYS = 100_000;

interface First {
  fingerprint: string;
  /** Undefined while it runs. */
  answer: Answer | undefined;
  forgetAt: number;
}

export const createOnce: CreateOnce = ({ keepMs }) => {
  /** The oldest comes first. */
  const firsts = new Map<string, First>();

  function forgetOld() {
    for (const [key, { forgetAt }] of firsts) {
      if (forgetAt > performance.now() && firsts.size <= MOST_KEYS) return;
      firsts.delete(key);
    }
  }

  return async (request, work) => {
    forgetOld();
    const before = firsts.get(request.key);
    if (before) return repeat(before, request);

    const first: First = { fingerprint: request.fingerprint, answer: undefined, forgetAt: performance.now() + keepMs };
    firsts.set(request.key, first);
    try {
      first.answer = succeeded(await work());
      return first.answer;
    } catch (error) {
      first.answer = failedForGood(error);
      const isForgotten = firsts.get(request.key) !== first;
      if (first.answer === undefined && !isForgotten) firsts.delete(request.key);
      throw error;
    }
  };
};
