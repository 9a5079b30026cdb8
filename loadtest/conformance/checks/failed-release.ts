// A command of release() fails, and Redis is back at once: the next hold of the process goes as any other.

import { formatDuration } from '../../narration/numbers.ts';
import { type Failure, failures } from '../held.ts';
import type { LockUnderTest } from '../lock-under-test.ts';
import { Fault, holds } from '../outcome.ts';
import { LEASE_MS } from '../staging.ts';
import { TAKEOVER_LEASES } from './death.ts';

const LEASES = 3;

export async function failedRelease({ survey, stage }: LockUnderTest) {
  for (const at of survey.release.keys()) for (const how of failures) await failOnce(at, how);
  return holds('A release failed: the next hold of its process went as any other.');

  function failOnce(at: number, how: Failure) {
    return stage(async ({ two, story }) => {
      const { p, a, b } = two(LEASE_MS);
      const next = p.holder('C, in the process of A,', LEASE_MS);
      await a.enters();
      const held = p.hold(at);
      const releasing = a.release();
      await held.fail(how, 'the release of A');
      const end = await story.ends('release() of A', releasing);
      if (end.how === 'pending') throw new Fault('A command of release() failed, and release() did not settle.');
      await next.mustEnter('A release had failed, and then', TAKEOVER_LEASES * LEASE_MS);
      if (survey.renewal.length > 0) {
        await story.pass(LEASES * LEASE_MS);
        await b.mustStayOut(
          `A release had failed, and the next hold of its process was not renewed: B entered after ${formatDuration(LEASES * LEASE_MS)}.`,
        );
      }
      await next.mustLeave('A release had failed, and after the next hold');
      await b.mustEnter('A release had failed. Later C had released, and');
    });
  }
}
