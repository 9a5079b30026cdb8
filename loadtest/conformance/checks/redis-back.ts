// A renewal fails once, and Redis is back at once: the hold goes on.

import { formatDuration } from '../../narration/numbers.ts';
import { failures } from '../held.ts';
import type { LockUnderTest } from '../lock-under-test.ts';
import { Fault, holds } from '../outcome.ts';
import { LEASE_MS } from '../staging.ts';

const LEASES = 3;
const LATER = `${formatDuration(LEASES * LEASE_MS)} after one renewal had failed`;

/** Each command of it fails in turn, in each way. */
export async function redisBack({ survey, stage }: LockUnderTest) {
  for (const at of survey.renewal.keys()) for (const how of failures) await failOnce(at, how);
  return holds(`The lock was still held ${LATER}.`);

  function failOnce(at: number, how: (typeof failures)[number]) {
    return stage(async ({ two, story }) => {
      const { p, a, b } = two(LEASE_MS);
      await a.enters();
      await p.hold(at).fail(how, 'the renewal of A');
      await story.pass(LEASES * LEASE_MS);
      if (a.isLost()) throw new Fault(`\`lost\` had aborted ${LATER}, although Redis was back at once.`);
      await b.mustStayOut(`B entered ${LATER}, and A was still inside.`);
      await a.mustLeave(`${LATER},`);
    });
  }
}
