// release() of a lock that is not held rejects with LOCK_NOT_HELD, however it came about.

import { setTimeout as sleep } from 'node:timers/promises';
import { NotStagedError } from '../../../evidence/not-staged.ts';
import { type Bed, LEASE_MS, STEP_LIMIT_MS } from '../bed.ts';
import { endOf, fails, holds, isNotHeld, saidOf } from '../outcome.ts';

const cases: Record<string, (bed: Bed) => Promise<string | undefined>> = {
  'which was never acquired': neverAcquired,
  'which was released already': releasedAlready,
  'whose key was deleted': keyDeleted,
  'which another has by now': takenByAnother,
  'whose line was cut for two leases': lineCut,
};

export async function notHeld(bed: Bed) {
  const found = await Promise.all(Object.entries(cases).map(async ([name, run]) => ({ name, said: await run(bed) })));
  const wrong = found.filter(({ said }) => said !== undefined);
  const [first] = wrong;
  if (first === undefined) return holds('release() rejects with LOCK_NOT_HELD whenever the lock is no longer held.');
  return fails(
    `release() of a lock ${first.name} ${first.said}: it must reject with LOCK_NOT_HELD.`,
    wrong.map(({ name, said }) => `release() of a lock ${name} ${said}`),
  );
}

async function neverAcquired(bed: Bed) {
  const a = await bed.trial().holder(0);
  return faultOf(a.release());
}

async function releasedAlready(bed: Bed) {
  const trial = bed.trial();
  const a = await trial.holder(0);
  await trial.enter(a, 'A');
  await endOf(a.release(), STEP_LIMIT_MS);
  return faultOf(a.release());
}

async function keyDeleted(bed: Bed) {
  const trial = bed.trial();
  const a = await trial.holder(0);
  await trial.enter(a, 'A');
  if (!(await trial.endLease())) throw new NotStagedError('A is inside, and there is no key to delete.');
  return faultOf(a.release());
}

async function takenByAnother(bed: Bed) {
  const trial = bed.trial();
  const [a, b] = [await trial.holder(0), await trial.holder(1)];
  await trial.enter(a, 'A');
  await trial.endLease();
  await trial.enter(b, 'B');
  const fault = await faultOf(a.release());
  await endOf(b.release(), STEP_LIMIT_MS);
  return fault;
}

async function lineCut(bed: Bed) {
  const trial = bed.trial();
  const a = await trial.holder(0, LEASE_MS);
  await trial.enter(a, 'A');
  for (const link of a.client.links) link.cut('silent');
  await sleep(2 * LEASE_MS);
  const isOver = (await trial.leaseLeftMs()) === -2;
  for (const link of a.client.links) link.restore();
  // A lock without a lease is still held.
  if (!isOver) return void (await endOf(a.release(), STEP_LIMIT_MS));
  return faultOf(a.release());
}

/** What release() did instead. */
async function faultOf(releasing: Promise<void>): Promise<string | undefined> {
  const end = await endOf(releasing, STEP_LIMIT_MS);
  return isNotHeld(end) ? undefined : saidOf(end);
}
