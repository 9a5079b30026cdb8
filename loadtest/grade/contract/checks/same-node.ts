// Two holders of one process, of which the first has lost its lock: its renewals and its release leave the second alone.

import { setTimeout as sleep } from 'node:timers/promises';
import { formatDuration } from '../../../evidence/numbers.ts';
import { type Bed, LEASE_MS, LONG_LEASE_MS, STEP_LIMIT_MS } from '../bed.ts';
import { endOf, fails, holds, saidOf } from '../outcome.ts';

export async function sameNode(bed: Bed) {
  const trial = bed.trial();
  const { key } = trial;
  const client = await trial.client(0);
  const a = await client.make({ key, leaseMs: LEASE_MS });
  // Its lease is so long that a renewal of A shows: it makes it short.
  const b = await client.make({ key, leaseMs: LONG_LEASE_MS });
  const [c, d] = [await trial.holder(1), await trial.holder(1)];
  await trial.enter(a, 'A');
  await trial.endLease();
  await trial.enter(b, 'B, on the same node,');
  await sleep(2 * LEASE_MS);
  const leftMs = await trial.leaseLeftMs();
  trial.say(`the lease of B lasts ${formatDuration(Math.max(0, leftMs))} more`);
  if (leftMs !== -1 && leftMs < LONG_LEASE_MS / 2) {
    return fails(
      `A renewed a lease that is B's by now: it lasted ${formatDuration(Math.max(0, leftMs))} more.`,
      trial.steps,
    );
  }
  if (!(await trial.isKeptOut(c, 'C'))) return fails('The lock of B was free while B was inside.', trial.steps);
  trial.say(`A releases: release() ${saidOf(await endOf(a.release(), STEP_LIMIT_MS))}`);
  if (!(await trial.isKeptOut(d, 'C'))) {
    return fails('The release of A freed the lock of B, and C entered while B was inside.', trial.steps);
  }
  const leaving = await endOf(b.release(), STEP_LIMIT_MS);
  if (leaving.how !== 'done') return fails(`After A had released, release() of B ${saidOf(leaving)}.`, trial.steps);
  return holds('A holder that has lost its lock leaves that of the next holder on its node alone.');
}
