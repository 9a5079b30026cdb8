// What stays when holders and waiters have gone: keys, connections, subscriptions, timers, listeners.

import { setTimeout as sleep } from 'node:timers/promises';
import { NotStagedError } from '../../../evidence/not-staged.ts';
import { countOf } from '../../../evidence/numbers.ts';
import { type Bed, LONG_LEASE_MS, STEP_LIMIT_MS, type Trial } from '../bed.ts';
import type { LockClient, LockNode } from '../lock-node.ts';
import { endOf, fails, holds } from '../outcome.ts';

/** The first rounds open what is kept for good, such as a connection that listens. */
const FIRST_ROUNDS = 3;
const ROUNDS = 20;
const WAIT_MS = 15;
/** How long the last of it may take to go, in milliseconds. */
const SETTLE_MS = 1_000;

interface Left {
  keys: number;
  connections: number;
  subscriptions: number;
  timers: number;
}

/** The lock was free, and its waiter did not enter. */
class WaiterForgotten extends Error {}

export async function leftovers(bed: Bed) {
  const trial = bed.trial();
  return countLeftovers(bed, trial).catch((error) => {
    if (!(error instanceof WaiterForgotten)) throw error;
    return fails(
      `The lock was free, and ${STEP_LIMIT_MS / 1_000} s later its waiter was not inside.`,
      trial.steps.slice(-4),
    );
  });
}

async function countLeftovers(bed: Bed, trial: Trial) {
  const node = await bed.startNode();
  const client = await trial.client(node);
  for (let round = 0; round < FIRST_ROUNDS; round += 1) await goRound(trial, client);
  await sleep(SETTLE_MS / 2);
  const before = await leftOf(trial, client, node);
  let listeners = 0;
  for (let round = 0; round < ROUNDS; round += 1) listeners += await goRound(trial, client);
  const deadline = performance.now() + SETTLE_MS;
  let grown = growthOf(before, await leftOf(trial, client, node));
  while (grown.length > 0 && performance.now() < deadline) {
    await sleep(50);
    grown = growthOf(before, await leftOf(trial, client, node));
  }
  if (listeners > 0) grown.push(countOf(listeners, 'listener'));
  if (grown.length > 0)
    return fails(`${2 * ROUNDS} acquisitions and ${ROUNDS} aborted waiters left ${grown.join(', ')}.`, trial.steps);
  return holds(
    `${2 * ROUNDS} acquisitions and ${ROUNDS} aborted waiters left no key, connection, subscription, timer or listener.`,
  );
}

/** One holds and releases, one waits and gets in, one waits and is aborted. Resolves with the listeners that are left on their signals. */
async function goRound({ key, enter, say }: Trial, client: LockClient): Promise<number> {
  const make = () => client.make({ key, leaseMs: LONG_LEASE_MS });
  const [a, b, c] = [await make(), await make(), await make()];
  await enter(a, 'A');
  const [second, third] = [b.acquire(), c.acquire()];
  await sleep(WAIT_MS);
  await c.abort();
  if ((await endOf(third, STEP_LIMIT_MS)).how === 'pending') {
    throw new NotStagedError('A waiter was aborted, and waits on: contract-abort judges it.');
  }
  await endOf(a.release(), STEP_LIMIT_MS);
  if ((await endOf(second, STEP_LIMIT_MS)).how !== 'done') throw new WaiterForgotten();
  await endOf(b.release(), STEP_LIMIT_MS);
  say('A releases, B enters and releases, C was aborted');
  const looks = await Promise.all([a, b, c].map((lock) => lock.look()));
  return looks.reduce((sum, { listeners }) => sum + listeners, 0);
}

async function leftOf(trial: Trial, { links }: LockClient, node: LockNode): Promise<Left> {
  const { timers } = await node.resources();
  return {
    keys: (await trial.keys()).length,
    connections: links.reduce((sum, { counters }) => sum + counters.open, 0),
    subscriptions: await trial.subscriptions(),
    timers,
  };
}

/** A timer of the client may come and go; one for every second round is the lock's. */
function growthOf(before: Left, now: Left): string[] {
  return (Object.keys(before) as (keyof Left)[]).flatMap((name) => {
    const more = now[name] - before[name];
    return more > (name === 'timers' ? ROUNDS / 2 : 0) ? [countOf(more, name.slice(0, -1))] : [];
  });
}
