// A vote: one question to all masters in parallel, decided by the majority.

import type { Redis } from 'ioredis';

export interface Votes {
  yes: number;
  no: number;
  /** Masters whose request failed. */
  failed: number;
  why?: unknown;
}

/** Asks all masters in parallel. Resolves once `quorum` masters say yes or can't any more, or after `limitMs`. Never rejects. */
export function vote(
  masters: Redis[],
  quorum: number,
  limitMs: number,
  question: (master: Redis) => Promise<boolean>,
): Promise<Votes> {
  const othersAtMost = masters.length - quorum;
  return new Promise((resolve) => {
    const votes: Votes = { yes: 0, no: 0, failed: 0 };
    // A reply that has arrived counts: a process that was busy reads it first.
    const timer = setTimeout(() => setImmediate(resolve, votes), limitMs);

    function count(vote: 'yes' | 'no' | 'failed') {
      votes[vote] += 1;
      const isDecided = votes.yes >= quorum || votes.no > othersAtMost || votes.failed > othersAtMost;
      if (!isDecided && votes.yes + votes.no + votes.failed < masters.length) return;
      clearTimeout(timer);
      resolve(votes);
    }

    for (const master of masters) {
      question(master).then(
        (isYes) => count(isYes ? 'yes' : 'no'),
        (why) => {
          votes.why = why;
          count('failed');
        },
      );
    }
  });
}
