// A loses its key, B takes it and is killed: the lock is free soon, although A lives.

import { formatDuration } from '../../../evidence/numbers.ts';
import { type Bed, LEASE_MS, STEP_LIMIT_MS } from '../bed.ts';
import { endOf, fails, holds } from '../outcome.ts';
import { TAKEOVER_LEASES } from './crash.ts';

const WAIT_LEASES = 3;

export async function deadHeir(bed: Bed) {
  const trial = bed.trial();
  const victim = await bed.startNode();
  const [a, b, c] = [
    await trial.holder(0, LEASE_MS),
    await trial.holder(victim, LEASE_MS),
    await trial.holder(1, LEASE_MS),
  ];
  await trial.enter(a, 'A');
  await trial.endLease();
  await trial.enter(b, 'B');
  await victim.kill();
  trial.say('the process of B is killed, that of A lives on');
  const entered = await endOf(c.acquire(), WAIT_LEASES * LEASE_MS);
  if (entered.how !== 'done') {
    const leftMs = await trial.leaseLeftMs();
    await c.abort();
    const why = leftMs === -1 ? 'the key has no end' : 'A keeps the lease of B alive';
    return fails(`B is dead, and nobody entered in ${formatDuration(WAIT_LEASES * LEASE_MS)}: ${why}.`, trial.steps);
  }
  trial.say('C enters');
  await endOf(c.release(), STEP_LIMIT_MS);
  const takeoverMs = entered.ms;
  if (takeoverMs > TAKEOVER_LEASES * LEASE_MS) {
    return fails(`C entered only ${formatDuration(takeoverMs)} after the death of B.`, trial.steps, { takeoverMs });
  }
  return holds(`C entered ${formatDuration(takeoverMs)} after the death of B, while A was alive.`, { takeoverMs });
}
