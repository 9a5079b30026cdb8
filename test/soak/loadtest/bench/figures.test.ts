// What the bench measures with: a warm-up, and the ceiling of a handover. The CPU time of real processes: commands/bench.test.ts.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLock } from '../../../../loadtest/bench/handover-ceiling.ts';
import { runHttpTurn } from '../../../../loadtest/bench/http-turn.ts';
import { openLocalTarget, type Target } from '../../../../loadtest/harness/target.ts';
import { lockOptions } from '../../../locks/lock-options.ts';
import { ownRedis } from '../../../locks/own-redis.ts';

const { connect, key } = ownRedis();

describe('a turn over HTTP', () => {
  let target: Target;
  beforeAll(async () => {
    target = await openLocalTarget({ env: { LOG_LEVEL: 'silent' }, service: 'loadtest/bench/node.ts' });
  });
  afterAll(() => target.close());

  /** All sales that the nodes have made since they were started. */
  async function soldSoFar(): Promise<number> {
    const pages = await Promise.all(target.nodes.map(({ publicUrl }) => fetch(`${publicUrl}/metrics`)));
    const texts = await Promise.all(pages.map((page) => page.text()));
    const counts = texts.flatMap((text) => [...text.matchAll(/^lockstep_sales_total\{.*outcome="sold".*\} (\d+)$/gm)]);
    return counts.reduce((sum, [, count]) => sum + Number(count), 0);
  }

  test.each([
    { name: 'cohort', touchesNoStore: false },
    { name: 'http-ceiling', touchesNoStore: true },
  ])('$name sells before it is measured, and none of that is in its figures', async (contestant) => {
    const before = await soldSoFar();
    const { signal } = new AbortController();
    const size = { connections: 10, requests: 50, needsMasters: false, withOrders: false };
    const figures = await runHttpTurn({ ...contestant, ...size, target, signal });

    expect(figures).toMatchObject({ sections: 50, lostUpdates: 0, starved: 0, errors: 0 });
    expect((await soldSoFar()) - before).toBeGreaterThan(200);
  });
});

describe('the ceiling of a handover', () => {
  const BLOCK = 512;

  /** Which process entered, one entry after the other, and how many were inside at the same moment at most. */
  interface Course {
    entered: string[];
    limit: number;
    inside: number;
    mostInside: number;
  }
  const newCourse = (limit: number): Course => ({ entered: [], limit, inside: 0, mostInside: 0 });

  /** The waiters of one process, which is known by its client: each enters, leaves, and asks again. */
  function startWaiters(redis: Redis, name: string, waiters: number, course: Course) {
    const lockKey = key();
    const wait = async () => {
      while (course.entered.length < course.limit) {
        const lock = createLock(lockOptions({ redis, key: lockKey }));
        await lock.acquire();
        course.inside += 1;
        course.mostInside = Math.max(course.mostInside, course.inside);
        course.entered.push(name);
        await nextTurn();
        course.inside -= 1;
        await lock.release();
      }
    };
    for (let waiter = 0; waiter < waiters; waiter += 1) void wait();
  }
  const ended = ({ entered, limit }: Course) => expect.poll(() => entered.length >= limit).toBe(true);
  const publishedSoFar = async (redis: Redis) =>
    Number(/cmdstat_publish:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0);

  test('two processes take turns in blocks, and nobody is inside at the same moment', async () => {
    const course = newCourse(6 * BLOCK);
    const [first, second] = [connect(), connect()];
    startWaiters(first, 'first', 3, course);
    startWaiters(second, 'second', 3, course);
    await ended(course);

    const blocks =
      course.entered
        .slice(0, course.limit)
        .join(' ')
        .match(/(\w+)( \1\b)*/g) ?? [];
    const [start = 0, ...others] = blocks.map((block) => block.split(' ').length);
    // The first process keeps the turn until the other one listens.
    expect(start % BLOCK).toBe(0);
    expect(new Set(others)).toEqual(new Set([BLOCK]));
    expect(course.mostInside).toBe(1);
    await first.del(`${key()}:processes`);
  });

  test('a process that is alone keeps the turn, and publishes it once a block', async () => {
    // It ends in the middle of a block.
    const course = newCourse(3.5 * BLOCK);
    const redis = connect();
    const before = await publishedSoFar(redis);
    startWaiters(redis, 'only', 2, course);
    await ended(course);

    expect((await publishedSoFar(redis)) - before).toBe(3);
    await redis.del(`${key()}:processes`);
  });
});
