import { describe, expect, test } from 'vitest';
import { createLuck } from '../../virtual/luck.ts';
import { createQueue } from '../../virtual/queue.ts';
import { createSchedule } from '../../virtual/schedule.ts';

describe('queue', () => {
  test('what is due earliest comes first, and of equal times what was put in first', () => {
    const queue = createQueue();
    const came: string[] = [];
    const times = [5, 3, 9, 3, 1, 5, 9, 0, 3];
    for (const [number, at] of times.entries()) queue.put({ at, run: () => came.push(`${at}.${number}`) });

    while (queue.nextAt() < Number.POSITIVE_INFINITY) queue.take()?.run();

    expect(came).toEqual(['0.7', '1.4', '3.1', '3.3', '3.8', '5.0', '5.5', '9.2', '9.6']);
    expect(queue.take()).toBeUndefined();
  });
});

describe('schedule', () => {
  test('the clock jumps from event to event, and stands at the limit when there is none', async () => {
    const schedule = createSchedule();
    const came: number[] = [];
    for (const ms of [700, 0.31, 20]) schedule.after(ms, () => came.push(schedule.now()));

    await schedule.pass(100);

    expect([came, schedule.now()]).toEqual([[0.31, 20], 100]);
    expect(await schedule.until(() => came.length === 3, 10_000)).toBe(true);
    expect(schedule.now()).toBe(700);
  });

  test('what never comes is told after the limit', async () => {
    const schedule = createSchedule();

    expect(await schedule.until(() => false, 900_000)).toBe(false);
    expect(schedule.now()).toBe(900_000);
  });

  test('a timer of an actor fires at its time, after an event of the same time', async () => {
    const schedule = createSchedule();
    const came: string[] = [];
    let due = 10;
    schedule.join({
      nextTimerAt: () => due,
      fireTimer() {
        due = Number.POSITIVE_INFINITY;
        came.push(`timer ${schedule.now()}`);
      },
      flush: () => came.push('flush'),
    });
    schedule.after(10, () => came.push(`event ${schedule.now()}`));

    await schedule.pass(20);

    expect(came).toEqual(['flush', 'event 10', 'flush', 'timer 10', 'flush']);
  });

  test('a moment is the same number, however it is reckoned', async () => {
    const schedule = createSchedule();
    await schedule.pass(0.1);
    await schedule.pass(0.2);

    expect(schedule.now()).toBe(0.3);
  });
});

describe('luck', () => {
  test('the same row each time, whose numbers differ', () => {
    const [one, other] = [createLuck(), createLuck()];
    const row = Array.from({ length: 100 }, one);

    expect(row).toEqual(Array.from({ length: 100 }, other));
    expect(new Set(row).size).toBe(100);
    expect(row.every((number) => number >= 0 && number < 1)).toBe(true);
    expect(createLuck(2)()).not.toBe(row[0]);
  });
});
