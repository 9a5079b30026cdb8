// Fencing tokens must grow from hold to hold: across the end of a lease, a quiet day, and an empty restart of the server.

import type { Holder } from '../holder.ts';
import { Fault, holds } from '../outcome.ts';
import { LEASE_MS, type LockUnderTest } from '../staging.ts';

/** Of a quiet day so much passes by the clock, in milliseconds. The rest is the end of every key that has one. */
const QUIET_MS = 300_000;

export const tokens = ({ stage }: LockUnderTest) =>
  stage(async (staging) => {
    // Two processes, and the clock of one is ahead.
    const [p, q] = [staging.process({ aheadMs: LEASE_MS }), staging.process()];
    let newest = await tokenOf(p.holder('A'));
    await grows(q.holder('B'), 'B entered after A');
    const late = p.holder('C');
    await grows(late, 'C entered after B', 'stays');
    staging.servers.endLease();
    await grows(q.holder('D'), 'D entered after the lease of C had ended');
    await late.leaves();
    await staging.story.pass(QUIET_MS);
    staging.servers.endAllLeases();
    await grows(q.holder('E'), 'E entered after a quiet day');
    staging.servers.flush('ALL');
    const before = newest;
    newest = await tokenOf(p.holder('F'));
    const again = newest > before ? 'continue' : 'start again, as a stock beside them does';
    for (const each of [q.holder('G'), p.holder('H')])
      await grows(each, `${each.name} entered after Redis had restarted empty`);
    return holds(
      `The tokens grow from hold to hold, even after a quiet day. After an empty restart of Redis they ${again}.`,
    );

    async function grows(holder: Holder, when: string, how?: 'stays') {
      const token = await tokenOf(holder, how);
      if (token <= newest)
        throw new Fault(`${when}, but its fencing token is ${token}, and the previous one was ${newest}.`);
      newest = token;
    }
  });

async function tokenOf(holder: Holder, how?: 'stays'): Promise<bigint> {
  await holder.enters();
  const token = holder.token();
  if (token === undefined) throw new Fault('A holder has no fencing token.');
  if (how !== 'stays') await holder.leaves();
  return token;
}
