// `lost` aborts within a lease of the loss: whether the key is gone, or Redis does not answer.

import { setTimeout as sleep } from 'node:timers/promises';
import { formatDuration } from '../../../evidence/numbers.ts';
import { type Bed, LEASE_MS, STEP_LIMIT_MS, type Trial } from '../bed.ts';
import type { LockObject } from '../lock-node.ts';
import { doesNotApply, endOf, fails, holds } from '../outcome.ts';

const LOOK_MS = 10;
/** The lease that is cut off may have been renewed a moment before, and the clocks of two processes are compared. */
const SLACK_MS = 100;

export async function lost(bed: Bed) {
  if (!bed.survey.hasLost)
    return doesNotApply('It has no signal `lost`: a holder learns of its loss when it releases.');
  const [taken, cut] = await Promise.all([whenTaken(bed), whenCut(bed)]);
  const wrong = [taken, cut].find(({ ms }) => ms === undefined);
  if (wrong) return fails(`\`lost\` had not aborted a lease after ${wrong.fault}.`, wrong.steps);
  const [takenMs = 0, cutMs = 0] = [taken.ms, cut.ms];
  return holds(
    `\`lost\` aborted ${formatDuration(takenMs)} after the key was deleted, and ${formatDuration(cutMs)} after the line was cut.`,
    { takenMs, cutMs },
  );
}

async function whenTaken(bed: Bed) {
  const trial = bed.trial();
  const [a, b] = [await trial.holder(0, LEASE_MS), await trial.holder(1)];
  await trial.enter(a, 'A');
  const since = performance.now();
  await trial.endLease();
  await trial.enter(b, 'B');
  const ms = await untilLost(a, trial, since);
  await endOf(b.release(), STEP_LIMIT_MS);
  return { ms, steps: trial.steps, fault: 'its key was deleted and taken by another' };
}

async function whenCut(bed: Bed) {
  const trial = bed.trial();
  const a = await trial.holder(0, LEASE_MS);
  await trial.enter(a, 'A');
  const since = performance.now();
  for (const link of a.client.links) link.cut('silent');
  trial.say('the line of A is cut');
  const ms = await untilLost(a, trial, since);
  for (const link of a.client.links) link.restore();
  return { ms, steps: trial.steps, fault: 'its line to Redis was cut' };
}

/** How long after `since` it was lost; undefined when it was not within a lease. */
async function untilLost(lock: LockObject, trial: Trial, since: number): Promise<number | undefined> {
  while (lock.lostAt() === undefined && performance.now() - since < LEASE_MS + SLACK_MS) await sleep(LOOK_MS);
  const at = lock.lostAt();
  trial.say(at === undefined ? '`lost` of A has not aborted' : '`lost` of A aborts');
  return at === undefined ? undefined : at - since;
}
