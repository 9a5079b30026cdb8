// The server forgets its scripts, then everything else: the lock works on.

import type { LockUnderTest } from '../lock-under-test.ts';
import { Fault, holds, saidOf } from '../outcome.ts';
import { LEASE_MS, STEP_LIMIT_MS } from '../staging.ts';

export const scriptFlush = ({ survey, stage }: LockUnderTest) =>
  stage(async ({ process, pass, endOf, flush, say }) => {
    const [p, q] = [process(), process()];
    const [a, b, c] = [p.holder('A', LEASE_MS), q.holder('B', LEASE_MS), q.holder('C', LEASE_MS)];
    flush('SCRIPT');
    await must(a.acquire(), 'acquire()');
    if (survey.renewal.length > 0) {
      // It has renewed once by now.
      await pass(LEASE_MS / 2);
      flush('SCRIPT');
      await pass(2 * LEASE_MS);
      if (!(await b.isKeptOut())) throw new Fault('After SCRIPT FLUSH no lease was renewed: B entered.');
    }
    const waiting = b.acquire();
    await pass(LEASE_MS / 4);
    flush('SCRIPT');
    await must(a.release(), 'release()');
    await must(waiting, 'acquire() of a waiter');
    await must(b.release(), 'release()');
    flush('ALL');
    await must(c.acquire(), 'acquire(), when the server had started again empty,');
    await must(c.release(), 'release(), when the server had started again empty,');
    return holds('It works on when the server has forgotten its scripts.');

    async function must(call: Promise<unknown>, name: string) {
      const end = await endOf(call, STEP_LIMIT_MS);
      say(`${name} ${saidOf(end)}`);
      if (end.how !== 'done') throw new Fault(`After SCRIPT FLUSH ${name} ${saidOf(end)}.`);
    }
  });
