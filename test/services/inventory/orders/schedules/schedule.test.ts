import { Cron } from 'croner';
import { expect, test, vi } from 'vitest';
import type { ScheduledTick } from '../../../../../services/inventory/orders/contract.ts';
import { startSchedule } from '../../../../../services/inventory/orders/schedules/index.ts';
import { cronOptions, whyNoCron } from '../../../../../services/inventory/settings/setting-kinds.ts';

test.each([
  ['the last day of the month', '0 0 2 L * ?', '02:00', '2026-01-31 2026-02-28 2026-03-31 2026-04-30 2026-05-31'],
  ['the last Friday', '0 15 10 ? * 6L', '10:15', '2026-01-30 2026-02-27 2026-03-27 2026-04-24 2026-05-29'],
  [
    'the weekday nearest to the 15th',
    '0 0 2 15W * ?',
    '02:00',
    '2026-01-15 2026-02-16 2026-03-16 2026-04-15 2026-05-15',
  ],
  ['… of a Saturday: the Friday', '0 0 2 15W 8 ?', '02:00', '2026-08-14 2027-08-16 2028-08-15 2029-08-15 2030-08-15'],
  [
    '… of the 1st: never in another month',
    '0 0 2 1W 8 ?',
    '02:00',
    '2026-08-03 2027-08-02 2028-08-01 2029-08-01 2030-08-01',
  ],
  ['the last weekday', '0 0 2 LW * ?', '02:00', '2026-01-30 2026-02-27 2026-03-31 2026-04-30 2026-05-29'],
  ['the second Wednesday', '0 0 2 ? * 4#2', '02:00', '2026-01-14 2026-02-11 2026-03-11 2026-04-08 2026-05-13'],
  ['the third Friday', '0 15 10 ? * 6#3', '10:15', '2026-01-16 2026-02-20 2026-03-20 2026-04-17 2026-05-15'],
  ['working days by name', '0 15 10 ? * MON-FRI', '10:15', '2026-01-01 2026-01-02 2026-01-05 2026-01-06 2026-01-07'],
  ['working days by number', '0 15 10 ? * 2-6', '10:15', '2026-01-01 2026-01-02 2026-01-05 2026-01-06 2026-01-07'],
  ['Wednesdays', '0 0 12 ? * WED', '12:00', '2026-01-07 2026-01-14 2026-01-21 2026-01-28 2026-02-04'],
  ['1 is Sunday', '0 15 10 ? * 1', '10:15', '2026-01-04 2026-01-11 2026-01-18 2026-01-25 2026-02-01'],
  ['7 is Saturday', '0 15 10 ? * 7', '10:15', '2026-01-03 2026-01-10 2026-01-17 2026-01-24 2026-01-31'],
  ['every five days', '0 0 12 1/5 * ?', '12:00', '2026-01-01 2026-01-06 2026-01-11 2026-01-16 2026-01-21'],
  ['one year', '0 15 10 * * ? 2027', '10:15', '2027-01-01 2027-01-02 2027-01-03 2027-01-04 2027-01-05'],
  ['every year', '0 11 11 11 11 ? *', '11:11', '2026-11-11 2027-11-11 2028-11-11 2029-11-11 2030-11-11'],
])('cron as Quartz reads it: %s, %s', (_what, expression, time, days) => {
  expect(nextFive(expression, '2026-01-01')).toEqual(days.split(' ').map((day) => `${day}T${time}:00`));
});

test.each([
  ['0 0/5 14,18 * * ?', '14:00:00 14:05:00 14:10:00 14:15:00 14:20:00'],
  ['0 0/5 14 * * ?', '14:00:00 14:05:00 14:10:00 14:15:00 14:20:00'],
  ['0 0-5 14 * * ?', '14:00:00 14:01:00 14:02:00 14:03:00 14:04:00'],
  ['0/10 * * * * ?', '00:00:10 00:00:20 00:00:30 00:00:40 00:00:50'],
  ['0 0/30 9-17 * * ?', '09:00:00 09:30:00 10:00:00 10:30:00 11:00:00'],
  ['0 0 10,14,16 * * ?', '10:00:00 14:00:00 16:00:00 10:00:00 14:00:00'],
])('cron as Quartz reads it: the times of a day, %s', (expression, times) => {
  expect(nextFive(expression, '2026-01-01').map((at) => at.slice(11))).toEqual(times.split(' '));
});

test('cron as Quartz reads it: years that are over, and two times on the Wednesdays of a month', () => {
  const fridays = '2002-01-25 2002-02-22 2002-03-29 2002-04-26 2002-05-31'.split(' ').map((day) => `${day}T10:15:00`);
  expect(nextFive('0 15 10 ? * 6L 2002-2006', '2001-01-01')).toEqual(fridays);
  expect(nextFive('0 10,44 14 ? 3 WED', '2026-01-01')).toEqual([
    ...['2026-03-04T14:10:00', '2026-03-04T14:44:00', '2026-03-11T14:10:00', '2026-03-11T14:44:00'],
    '2026-03-18T14:10:00',
  ]);
});

/** The dates in the tables are counted in a calendar. */
function nextFive(expression: string, from: string) {
  const runs = new Cron(expression, cronOptions).nextRuns(5, new Date(`${from}T00:00:00Z`));
  return runs.map((at) => at.toISOString().slice(0, 19));
}

test('schedule: the times are in UTC, and 2 is Monday, as in Quartz', async () => {
  vi.useFakeTimers({ now: Date.parse('2026-11-22T02:59:55Z') });
  const due: string[] = [];
  const schedule = startSchedule({ cron: '0 0 3 ? * 2' }, async ({ dueAt }) => {
    due.push(new Date(dueAt).toISOString());
  });

  await vi.advanceTimersByTimeAsync(86_410_000);

  schedule.stop();
  vi.useRealTimers();
  expect(due).toEqual(['2026-11-23T03:00:00.000Z']);
});

test.each([
  ['', /format \(''\)$/],
  ['0/10 * * * *', /put the seconds first, as in 0 0\/10 \* \* \* \*$/],
  ['0 0 3 ? * 0', /1 \(Sunday, as in Quartz\) to 7/],
  ['0 0 3 ? * 8', /1 \(Sunday, as in Quartz\) to 7/],
  ['0 0 3 ? * FRI-SUN', /write a list, such as FRI,SAT,SUN$/],
  ['0 15 10 ? * 6L 2002-2006', /never occurs$/],
  ['60 * * * * ?', /second$/],
  ['0 0 0 30 2 ?', /never occurs$/],
])('schedule: %j is refused, with what is wrong', (expression, why) => {
  expect(whyNoCron(expression)).toMatch(why);
});

test('cron-overlap: it ticks until it is stopped, also while the last tick goes on', async () => {
  vi.useFakeTimers({ now: Date.parse('2026-11-21T10:00:00.500Z') });
  let ticks = 0;
  const schedule = startSchedule({ cron: '* * * * * ?', overlap: true }, async () => {
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

test('cron: ticks that are due while a slow one is under way are skipped, and the next comes at its time', async () => {
  expect(await ticksOf({ cron: '* * * * * ?' }, 3_500, 6_500)).toEqual([
    [1_000, 1_000],
    [5_000, 5_000],
    [6_000, 6_000],
  ]);
});

test('fixed delay: a tick begins a second after the last one has ended', async () => {
  expect(await ticksOf({ fixedDelayMs: 1_000 }, 3_500, 7_000)).toEqual([
    [1_000, 1_000],
    [5_500, 5_500],
    [6_500, 6_500],
  ]);
});
