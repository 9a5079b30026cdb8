// How busy the machine is, for limits in time that are the subject of a test.

import type { RunnerTask, RunnerTestSuite } from 'vitest';

const LOOK_MS = 20;
/** How long what was seen is kept, in milliseconds. */
const KEPT_MS = 600_000;
/** The limits in time of the tests are shorter than this, in milliseconds. */
const RECENT_MS = 5_000;
/** An answer takes this many steps of this process and others, each of which may be late. */
const STEPS = 5;
/** By how much a limit is stretched at most. */
const MOST_STRETCH = 3;
/** A test that this process was kept from for longer, in milliseconds, proves nothing by failing: masters have 50 to vote. */
const STANDSTILL_MS = 25;
/** How often such a test is run again. */
const RETRIES = 3;

/** When this process came to its turn, and how late, in milliseconds; only what is worth telling. */
const standstills: { at: number; ms: number }[] = [];
let lookedAt = performance.now();
setInterval(() => {
  const at = performance.now();
  const ms = at - lookedAt - LOOK_MS;
  lookedAt = at;
  if (ms > LOOK_MS / 2) standstills.push({ at, ms });
  while (standstills[0] && standstills[0].at < at - KEPT_MS) standstills.shift();
}, LOOK_MS).unref();

/** For how long this process had to wait for its turn at worst since then, in milliseconds. */
function longestStandstillSince(since: number): number {
  return Math.max(0, ...standstills.filter(({ at }) => at >= since).map(({ ms }) => ms));
}

/** The limit, in milliseconds, on the machine as it was of late: longer when this process had to wait for its turn. */
export function atMost(limitMs: number): number {
  const standstillMs = longestStandstillSince(performance.now() - RECENT_MS);
  return Math.min(limitMs + STEPS * standstillMs, MOST_STRETCH * limitMs);
}

/** When the latest try of each test began. */
const beganAt = new WeakMap<object, number>();

export function testBegins({ task }: { task: object }) {
  beganAt.set(task, performance.now());
}

/** From now on each of these tests is run again when it fails while the machine stands still. A failure on a machine with time to spare stays one. */
export function runAgainAfterStandstill({ tasks }: Pick<RunnerTestSuite, 'tasks'>) {
  for (const task of tasks) {
    if (task.type === 'suite') runAgainAfterStandstill(task);
    else giveTries(task);
  }
}

function giveTries(test: RunnerTask) {
  const condition = () => longestStandstillSince(beganAt.get(test) ?? 0) > STANDSTILL_MS;
  test.retry = { count: RETRIES, condition };
}
