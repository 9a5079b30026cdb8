// A release that a waiter could not hear, since its SUBSCRIBE was on its way: it is inside long before the lease ends.

import type { Command } from '../../../../scripts/link/link.ts';
import { formatDuration } from '../../../evidence/numbers.ts';
import { type Bed, LONG_LEASE_MS, STEP_LIMIT_MS } from '../bed.ts';
import { doesNotApply, endOf, fails, holds, saidOf } from '../outcome.ts';

/** How soon a waiter that is to be woken says so, and is inside when it has not been, in milliseconds. */
const ASK_MS = 500;
const WAKE_MS = 2_000;

export async function wakeUp(bed: Bed) {
  const trial = bed.trial();
  const [a, b] = [await trial.holder(0), await trial.holder(1)];
  await trial.enter(a, 'A');
  const held = b.client.hold(0, isListening);
  const asked = b.acquire();
  if ((await endOf(held.arrived, ASK_MS)).how !== 'done') {
    held.drop();
    await b.abort();
    await endOf(a.release(), STEP_LIMIT_MS);
    return doesNotApply('Its waiters are not woken by Redis: they ask again and again.');
  }
  const { name } = await held.arrived;
  trial.say(`B asks, and its ${name} is held on its way`);
  trial.say(`A releases: release() ${saidOf(await endOf(a.release(), STEP_LIMIT_MS))}`);
  const freeAt = performance.now();
  await held.letGo();
  trial.say(`the ${name} reaches Redis`);
  const end = await endOf(asked, WAKE_MS);
  const wokenMs = performance.now() - freeAt;
  if (end.how === 'done') {
    await endOf(b.release(), STEP_LIMIT_MS);
    return holds(`B was inside ${formatDuration(wokenMs)} after a release that it could not hear.`, { wokenMs });
  }
  await b.abort();
  trial.say(`B is not inside after ${formatDuration(wokenMs)}`);
  const lease = formatDuration(LONG_LEASE_MS);
  return fails(
    `A lost wake-up: the lock was free before the ${name} of B reached Redis, and ${formatDuration(wokenMs)} later B was not inside; the lease is ${lease}.`,
    trial.steps,
  );
}

const isListening = ({ name }: Command) => /^([PS]?SUBSCRIBE|B[LRZ].*|XREAD(GROUP)?)$/.test(name);
