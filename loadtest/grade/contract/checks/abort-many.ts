// 200 waiters are aborted at once: all of them end, and a moment later none sends anything.

import { setTimeout as sleep } from 'node:timers/promises';
import { type Bed, LEASE_MS, STEP_LIMIT_MS } from '../bed.ts';
import { namesKey } from '../lock-node.ts';
import { endOf, fails, holds } from '../outcome.ts';

const WAITERS = 200;
const WAIT_MS = 150;
/** How long they may clear up, in milliseconds. */
const CLEAR_UP_MS = 100;
const SOON_MS = 1_000;

export async function abortMany(bed: Bed) {
  const trial = bed.trial();
  const { key } = trial;
  const holder = await trial.holder(0);
  const client = await trial.client(1);
  await trial.enter(holder, 'A');
  const waiters = await Promise.all(Array.from({ length: WAITERS }, () => client.make({ key, leaseMs: LEASE_MS })));
  const asked = waiters.map((waiter) => waiter.acquire());
  await sleep(WAIT_MS);
  await Promise.all(waiters.map((waiter) => waiter.abort()));
  trial.say(`${WAITERS} waiters are aborted`);
  const ends = await Promise.all(asked.map((each) => endOf(each, SOON_MS)));
  const pending = ends.filter(({ how }) => how !== 'rejected').length;
  if (pending > 0)
    return fails(`${pending} of ${WAITERS} waiters had not ended ${SOON_MS} ms after their abort.`, trial.steps);
  await sleep(CLEAR_UP_MS);
  const from = client.seen.length;
  await sleep(LEASE_MS);
  const late = client.seen.slice(from).filter(({ command }) => namesKey(command, key));
  await endOf(holder.release(), STEP_LIMIT_MS);
  const [first] = late;
  if (first) {
    const count = `${late.length} commands named the key within the next lease`;
    return fails(
      `${CLEAR_UP_MS} ms after ${WAITERS} waiters had gone, ${count}: the first was ${first.command.name}.`,
      trial.steps,
    );
  }
  return holds(`${WAITERS} waiters were aborted, and none of them sent anything afterwards.`);
}
