// One release wakes some of the waiters, however many there are.

import { setTimeout as sleep } from 'node:timers/promises';
import { countOf } from '../../../evidence/numbers.ts';
import { type Bed, LONG_LEASE_MS, STEP_LIMIT_MS } from '../bed.ts';
import { namesKey } from '../lock-node.ts';
import { doesNotApply, endOf, fails, holds } from '../outcome.ts';

const WAITERS_OF_EACH = 20;
/** How long they take until all wait, must then be silent, and may take to answer a release, in milliseconds. */
const SETTLE_MS = 400;
const SILENCE_MS = 200;
const STIR_MS = 150;
/** More than this in the silent window, and they poll. */
const MOST_WHEN_SILENT = 10;

export async function herd(bed: Bed) {
  const trial = bed.trial();
  const { key } = trial;
  const a = await trial.holder(0);
  const clients = [await trial.client(0), await trial.client(1)];
  await trial.enter(a, 'A');
  const made = clients.flatMap((client) =>
    Array.from({ length: WAITERS_OF_EACH }, () => client.make({ key, leaseMs: LONG_LEASE_MS })),
  );
  const waiters = await Promise.all(made);
  const asked = waiters.map((waiter) => waiter.acquire());
  const commands = () =>
    clients.reduce((sum, { seen }) => sum + seen.filter(({ command }) => namesKey(command, key)).length, 0);
  await sleep(SETTLE_MS);
  const settled = commands();
  await sleep(SILENCE_MS);
  const before = commands();
  const isPolling = before - settled > MOST_WHEN_SILENT;
  let woken = 0;
  if (!isPolling) {
    await endOf(a.release(), STEP_LIMIT_MS);
    trial.say('A releases');
    await endOf(Promise.race(asked), STEP_LIMIT_MS);
    await sleep(STIR_MS);
    woken = commands() - before;
    trial.say(`${countOf(woken, 'command')} of the waiters`);
  }
  // All of them give up; who has entered gives the lock back.
  for (const [at, waiter] of waiters.entries()) {
    void waiter.abort().catch(() => {});
    void asked[at]?.then(() => waiter.release()).catch(() => {});
  }
  if (isPolling) await endOf(a.release(), STEP_LIMIT_MS);
  await Promise.all(asked.map((each) => endOf(each, STEP_LIMIT_MS)));

  if (isPolling) return doesNotApply('Its waiters ask again and again: a release wakes none of them.');
  const said = `One release, and ${countOf(waiters.length, 'waiter')} on two nodes: ${countOf(woken, 'command')}.`;
  return woken < WAITERS_OF_EACH / 2
    ? holds(said, { woken })
    : fails(`${said} It wakes many, to let one in.`, trial.steps, { woken });
}
