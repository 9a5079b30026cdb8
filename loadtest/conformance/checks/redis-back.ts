// A renewal fails once, and Redis is back at once: the hold goes on.

import { formatDuration } from '../../evidence/numbers.ts';
import type { LockUnderTest } from '../lock-under-test.ts';
import { Fault, holds, saidOf } from '../outcome.ts';
import { failures, LEASE_MS } from '../staging.ts';

const LEASES = 3;
const LATER = `${formatDuration(LEASES * LEASE_MS)} after one renewal had failed`;

/** Each command of it fails in turn, in each way. */
export async function redisBack({ survey, stage }: LockUnderTest) {
  for (const at of survey.renewal.keys()) for (const how of failures) await failOnce(at, how);
  return holds(`The lock was still held ${LATER}.`);

  function failOnce(at: number, how: (typeof failures)[number]) {
    return stage(async ({ process, pass }) => {
      const [p, q] = [process(), process()];
      const [a, b] = [p.holder('A', LEASE_MS), q.holder('B', LEASE_MS)];
      await a.enters();
      await p.hold(at).fail(how, 'the renewal of A');
      await pass(LEASES * LEASE_MS);
      if (a.isLost()) throw new Fault(`\`lost\` had aborted ${LATER}, although Redis was back at once.`);
      if (!(await b.isKeptOut())) throw new Fault(`B entered ${LATER}, and A was still inside.`);
      const left = await a.leaves();
      if (left.how !== 'done') throw new Fault(`${LATER}, release() ${saidOf(left)}.`);
    });
  }
}
