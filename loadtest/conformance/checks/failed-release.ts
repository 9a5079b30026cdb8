// A command of release() fails, and Redis is back at once: the next hold of the process goes as any other.

import { formatDuration } from '../../evidence/numbers.ts';
import type { LockUnderTest } from '../lock-under-test.ts';
import { Fault, holds, saidOf } from '../outcome.ts';
import { type Failure, failures, LEASE_MS, STEP_LIMIT_MS } from '../staging.ts';
import { TAKEOVER_LEASES } from './death.ts';

const LEASES = 3;

export async function failedRelease({ survey, stage }: LockUnderTest) {
  for (const at of survey.release.keys()) for (const how of failures) await failOnce(at, how);
  return holds('A release failed: the next hold of its process went as any other.');

  function failOnce(at: number, how: Failure) {
    return stage(async ({ process, pass, endOf, say }) => {
      const [p, q] = [process(), process()];
      const [a, next, b] = [p.holder('A', LEASE_MS), p.holder('C', LEASE_MS), q.holder('B', LEASE_MS)];
      await a.enters();
      const held = p.hold(at);
      const releasing = a.release();
      await held.fail(how, 'the release of A');
      const end = await endOf(releasing, STEP_LIMIT_MS);
      say(`release() of A ${saidOf(end)}`);
      if (end.how === 'pending') throw new Fault('A command of release() failed, and release() did not settle.');
      const entered = await endOf(next.acquire(), TAKEOVER_LEASES * LEASE_MS);
      say(`C, in the process of A, asks: acquire() ${saidOf(entered)}`);
      if (entered.how !== 'done')
        throw new Fault(`A release had failed, and the next acquire() of its process ${saidOf(entered)}.`);
      if (survey.renewal.length > 0) {
        await pass(LEASES * LEASE_MS);
        if (!(await b.isKeptOut()))
          throw new Fault(
            `A release had failed, and the next hold of its process was not renewed: B entered after ${formatDuration(LEASES * LEASE_MS)}.`,
          );
      }
      const left = await next.leaves();
      if (left.how !== 'done')
        throw new Fault(`A release had failed, and the next release() of its process ${saidOf(left)}.`);
      const free = await endOf(b.acquire(), STEP_LIMIT_MS);
      if (free.how !== 'done') throw new Fault(`After that C had released, and acquire() of B ${saidOf(free)}.`);
    });
  }
}
