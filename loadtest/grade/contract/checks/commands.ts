// How many commands a second one waiter and one holder send.

import { setTimeout as sleep } from 'node:timers/promises';
import { formatMeasure } from '../../../evidence/numbers.ts';
import type { DrillOutcome } from '../../../harness/drill.ts';
import { type Bed, LEASE_MS, STEP_LIMIT_MS } from '../bed.ts';
import { type LockClient, namesKey } from '../lock-node.ts';
import { endOf, fails, holds } from '../outcome.ts';

/** The most that one of them may send to each server, a second: a waiter may try three times in each delay of 20 ms. */
const MOST_WAITING = 150;
const MOST_HOLDING = 50;
/** Its busiest moment decides, which a slow machine does not hide. In milliseconds. */
const MOMENT_MS = 100;

export async function commands(bed: Bed) {
  const trial = bed.trial();
  const [a, b] = [await trial.holder(0, LEASE_MS), await trial.holder(1, LEASE_MS)];
  await trial.enter(a, 'A');
  const asked = b.acquire();
  const from = performance.now();
  await endOf(asked, LEASE_MS / 2);
  const waiting = rateOf(b.client, trial.key, from);
  await b.abort();
  await endOf(asked, STEP_LIMIT_MS);
  await sleep(LEASE_MS / 2);
  const holding = rateOf(a.client, trial.key, from);
  await endOf(a.release(), STEP_LIMIT_MS);
  const figures = { waitingPerSecond: waiting.average, holdingPerSecond: holding.average };
  const isTooMuch = waiting.most > MOST_WAITING || holding.most > MOST_HOLDING;
  const said = `${formatMeasure(waiting.average)} commands a second while it waits, ${formatMeasure(holding.average)} while it holds`;
  if (!isTooMuch) return holds(`${said}.`, figures);
  return fails(`${said}; at most ${formatMeasure(waiting.most)} and ${formatMeasure(holding.most)}.`, [], figures);
}

/** What is slow sends less: only the busiest moment can be that of commands which were held up. */
export function isTooMuchOnAverage({ figures = {} }: DrillOutcome): boolean {
  const { waitingPerSecond = 0, holdingPerSecond = 0 } = figures as Record<string, number>;
  return waitingPerSecond > MOST_WAITING || holdingPerSecond > MOST_HOLDING;
}

/** Commands that name the key, a second and server: since then, and in the busiest moment. */
function rateOf({ seen, links }: LockClient, key: string, from: number) {
  const times = seen.flatMap(({ at, command }) => (at >= from && namesKey(command, key) ? [at] : []));
  const perSecond = (count: number, ms: number) => count / links.length / (ms / 1_000);
  const moments = times.map((start) => times.filter((at) => at >= start && at < start + MOMENT_MS).length);
  return {
    average: perSecond(times.length, performance.now() - from),
    most: perSecond(Math.max(0, ...moments), MOMENT_MS),
  };
}
