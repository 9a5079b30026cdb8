// A free lock is entered, a held one by nobody else, and a release lets the next one in.

import { setTimeout as sleep } from 'node:timers/promises';
import type { DrillOutcome } from '../../../harness/drill.ts';
import { type Bed, LONG_LEASE_MS } from '../bed.ts';
import { endOf, fails, holds, saidOf } from '../outcome.ts';

const LIMIT_MS = 5_000;
/** A waiter waits in earnest after so many milliseconds. */
const WAIT_MS = 250;

export async function enter(bed: Bed): Promise<DrillOutcome> {
  const trial = bed.trial();
  const client = await trial.client(0);
  const make = () => client.make({ key: trial.key, leaseMs: LONG_LEASE_MS });
  const [a, b, c, waiter] = [await make(), await make(), await trial.holder(1), await trial.holder(1)];

  const entered = await endOf(a.acquire(), LIMIT_MS);
  if (entered.how !== 'done') return noLock(`A free lock was not entered: acquire() ${saidOf(entered)}.`);
  trial.say('A enters');
  if (!(await trial.isKeptOut(b, 'B, in the same process,'))) {
    return noLock('Two holders of one process were inside at the same moment.', trial.steps);
  }
  if (!(await trial.isKeptOut(c, 'C, in another process,'))) {
    return noLock('Holders of two processes were inside at the same moment.', trial.steps);
  }
  const waiting = waiter.acquire();
  await sleep(WAIT_MS);
  const released = await endOf(a.release(), LIMIT_MS);
  if (released.how !== 'done') return noLock(`The holder can't leave: release() ${saidOf(released)}.`, trial.steps);
  trial.say('A releases');
  const next = await endOf(waiting, LIMIT_MS);
  if (next.how !== 'done')
    return fails(`The lock is free, and its waiter is not inside: acquire() ${saidOf(next)}.`, trial.steps);
  trial.say('the waiter enters');
  await endOf(waiter.release(), LIMIT_MS);
  return holds('One at a time is inside, on one node and on two; a release lets the waiter in.');
}

/** Nothing else can be looked at. */
const noLock = (reason: string, steps: string[] = []) => ({ ...fails(reason, steps), nothingToBreak: true });
