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
/** A test that this process was kept from for longer, in milliseconds, proves nothing by failing. */
const STANDSTILL_MS = 100;
/** How often such a test is run again. */
const RETRIES = 3;

interface Standstill {
  at: number;
  /** How late this process came to its turn, in milliseconds. */
  lateMs: number;
  /** What of it others had: it did not work itself. */
  waitedMs: number;
}

/** How long this process has worked so far, in milliseconds. */
function workedMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** When this process came late to its turn; only what is worth telling. */
const standstills: Standstill[] = [];
let looked = { at: performance.now(), workedMs: workedMs() };
setInterval(() => {
  const now = { at: performance.now(), workedMs: workedMs() };
  const lateMs = now.at - looked.at - LOOK_MS;
  const waitedMs = lateMs - (now.workedMs - looked.workedMs);
  looked = now;
  if (lateMs > LOOK_MS / 2) standstills.push({ at: now.at, lateMs, waitedMs });
  while (standstills[0] && standstills[0].at < now.at - KEPT_MS) standstills.shift();
}, LOOK_MS).unref();

/** The worst since then, in milliseconds. */
function worstSince(since: number, ms: (standstill: Standstill) => number): number {
  return Math.max(0, ...standstills.filter(({ at }) => at >= since).map(ms));
}

/** The limit, in milliseconds, on the machine as it was of late: longer when this process came late to its turn. */
export function atMost(limitMs: number): number {
  const lateMs = worstSince(performance.now() - RECENT_MS, (standstill) => standstill.lateMs);
  return Math.min(limitMs + STEPS * lateMs, MOST_STRETCH * limitMs);
}

/**
 * The least that a wait may measure, in milliseconds: Node counts a timer from the beginning of the event loop's turn, so it
 * ends a little early by any other clock.
 */
export const atLeast = (waitMs: number) => 0.95 * waitMs;

/** When the latest try of each test began. */
const beganAt = new WeakMap<object, number>();

export function testBegins({ task }: { task: object }) {
  beganAt.set(task, performance.now());
}

/**
 * From now on each of these tests is run again when it fails and its process was kept from its turn meanwhile. A failure on a
 * machine with time to spare stays one; so does one that the test's own work made late.
 */
export function runAgainAfterStandstill({ tasks }: Pick<RunnerTestSuite, 'tasks'>) {
  for (const task of tasks) {
    if (task.type === 'suite') runAgainAfterStandstill(task);
    else giveTries(task);
  }
}

function giveTries(test: RunnerTask) {
  const condition = () => worstSince(beganAt.get(test) ?? 0, ({ waitedMs }) => waitedMs) > STANDSTILL_MS;
  test.retry = { count: RETRIES, condition };
}
