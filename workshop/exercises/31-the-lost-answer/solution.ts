// The buyer's program sends a key with each purchase, and the same key with each repeat.

import type { AnswerOnce } from '../orders/contract.ts';

/** A node that dies halfway must not keep the key forever. */
const CLAIM_MS = 30_000;
/** A buyer may repeat a request for up to a day. */
const KEEP_MS = 86_400_000;

export const answerOnce: AnswerOnce = async ({ key, work, redis, inProgress }) => {
  const name = `request:${key}`;
  const claimed = await redis.set(name, 'in progress', 'PX', CLAIM_MS, 'NX');
  if (claimed === null) {
    const known = await redis.get(name);
    if (known === null || known === 'in progress') throw inProgress();
    return JSON.parse(known);
  }
  const answer = await work();
  await redis.set(name, JSON.stringify(answer), 'PX', KEEP_MS);
  return answer;
};
