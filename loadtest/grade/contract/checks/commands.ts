// How many commands a second one waiter and one holder send.

import { setTimeout as sleep } from 'node:timers/promises';
import { formatMeasure } from '../../../evidence/numbers.ts';
import { type Bed, LEASE_MS, STEP_LIMIT_MS } from '../bed.ts';
import { type LockClient, namesKey } from '../lock-node.ts';
import { endOf, fails, holds } from '../outcome.ts';

/** The most that one of them may send to each server, a second: a waiter may try three times in each delay of 20 ms. */
const MOST_WAITING = 150;
const MOST_HOLDING = 50;

export async function commands(bed: Bed) {
  const trial = bed.trial();
  const [a, b] = [await trial.holder(0, LEASE_MS), await trial.holder(1, LEASE_MS)];
  await trial.enter(a, 'A');
  const asked = b.acquire();
  const from = performance.now();
  await endOf(asked, LEASE_MS / 2);
  const waiting = rate(b.client, trial.key, from);
  await b.abort();
  await endOf(asked, STEP_LIMIT_MS);
  await sleep(LEASE_MS / 2);
  const holding = rate(a.client, trial.key, from);
  await endOf(a.release(), STEP_LIMIT_MS);
  const figures = { waitingPerSecond: waiting, holdingPerSecond: holding };
  const said = `${formatMeasure(waiting)} commands a second while it waits, ${formatMeasure(holding)} while it holds.`;
  return waiting > MOST_WAITING || holding > MOST_HOLDING ? fails(said, [], figures) : holds(said, figures);
}

function rate({ seen, links }: LockClient, key: string, from: number) {
  const count = seen.filter(({ at, command }) => at >= from && namesKey(command, key)).length;
  return count / links.length / ((performance.now() - from) / 1_000);
}
