// The buyer's program sends a key with each purchase, and the same key with each repeat.

import type { AnswerOnce } from '../orders/contract.ts';

/** A node that dies halfway must not keep the key forever. */
const CLAIM_MS = 30_000;

export const answerOnce: AnswerOnce = async ({ key, work, redis, inProgress }) => {
  const name = `request:${key}`;
  const claimed = await redis.set(name, 'in progress', 'PX', CLAIM_MS, 'NX');
  if (claimed === null) throw inProgress();
  try {
    return await work();
  } finally {
    await redis.del(name);
  }
};
