import { expect, test, vi } from 'vitest';
import type { ScheduledTick } from '../../../../../services/inventory/orders/contract.ts';
import { startSchedule } from '../../../../../services/inventory/orders/schedules/index.ts';
import { whyNoCron } from '../../../../../services/inventory/settings/setting-kinds.ts';

test('schedule: the times are in UTC, and 1 is Monday, other than in Quartz, where it is Sunday', async () => {
  vi.useFakeTimers({ now: Date.parse('2026-11-22T02:59:55Z') });
  const due: string[] = [];
  const schedule = startSchedule({ cron: '0 0 3 ? * 1' }, async ({ dueAt }) => {
    due.push(new Date(dueAt).toISOString());
  });

  await vi.advanceTimersByTimeAsync(86_410_000);

  schedule.stop();
  vi.useRealTimers();
  expect(due).toEqual(['2026-11-23T03:00:00.000Z']);
});

test.each([
  ['', /format \(''\)$/],
  ['0/10 * * * * ? 2027', /7 parts$/],
  ['60 * * * * ?', /second$/],
  ['0 0 0 30 2 ?', /never comes$/],
])('schedule: %j is refused, with what is wrong', (expression, why) => {
  expect(whyNoCron(expression)).toMatch(why);
});

test('schedule: it ticks until it is stopped, also while the last tick goes on', async () => {
  vi.useFakeTimers({ now: Date.parse('2026-11-21T10:00:00.500Z') });
  let ticks = 0;
  const schedule = startSchedule({ cron: '* * * * * ?' }, async () => {
    ticks += 1;
    await new Promise(() => {});
  });

  await vi.advanceTimersByTimeAsync(3_000);
  expect(ticks).toBe(3);
  schedule.stop();
  await vi.advanceTimersByTimeAsync(3_000);
  vi.useRealTimers();

  expect(ticks).toBe(3);
});

/** Starts a schedule whose first tick takes so long, and resolves with when each tick was due and began, after so many milliseconds. */
async function ticksOf(schedule: Parameters<typeof startSchedule>[0], firstTakesMs: number, forMs: number) {
  const start = Date.parse('2026-11-21T10:00:00.000Z');
  vi.useFakeTimers({ now: start });
  const ticks: ScheduledTick[] = [];
  const running = startSchedule(schedule, async (its) => {
    ticks.push(its);
    if (ticks.length === 1) await new Promise((resolve) => setTimeout(resolve, firstTakesMs));
  });
  await vi.advanceTimersByTimeAsync(forMs);
  running.stop();
  const count = ticks.length;
  await vi.advanceTimersByTimeAsync(10_000);
  vi.useRealTimers();
  expect(ticks).toHaveLength(count);
  return ticks.map(({ dueAt, beganAt }) => [dueAt - start, beganAt - start]);
}

test('fixed rate: a tick is due every second, and those behind a slow one follow it at once', async () => {
  expect(await ticksOf({ fixedRateMs: 1_000 }, 3_500, 6_500)).toEqual([
    [1_000, 1_000],
    // A timer of Node waits for a millisecond at least.
    [2_000, 4_501],
    [3_000, 4_502],
    [4_000, 4_503],
    [5_000, 5_000],
    [6_000, 6_000],
  ]);
});

test('fixed rate: a clock that is set back by an hour changes nothing but what it shows', async () => {
  vi.useFakeTimers({ now: Date.parse('2026-11-21T10:00:00.000Z') });
  const ticks: ScheduledTick[] = [];
  const schedule = startSchedule({ fixedRateMs: 1_000 }, async (its) => void ticks.push(its));
  vi.setSystemTime(Date.parse('2026-11-21T09:00:00.000Z'));

  await vi.advanceTimersByTimeAsync(2_000);
  schedule.stop();
  vi.useRealTimers();

  const at = (seconds: number) => Date.parse('2026-11-21T09:00:00.000Z') + seconds * 1_000;
  expect(ticks).toEqual([1, 2].map((seconds) => ({ dueAt: at(seconds), beganAt: at(seconds) })));
});

test('fixed delay: a tick begins a second after the last one has ended', async () => {
  expect(await ticksOf({ fixedDelayMs: 1_000 }, 3_500, 7_000)).toEqual([
    [1_000, 1_000],
    [5_500, 5_500],
    [6_500, 6_500],
  ]);
});
