import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { createLock } from '../../../../loadtest/bench/handover-ceiling.ts';
import { lockOptions } from '../../../locks/lock-options.ts';
import { ownRedis } from '../../../locks/own-redis.ts';

const { connect, key } = ownRedis();
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

async function untilEnded({ entered, limit }: Course) {
  while (entered.length < limit) await sleep(5);
}

/** How often each process was let in before the other one had its turn. */
function blocksOf({ entered, limit }: Course): number[] {
  const lengths: number[] = [];
  for (const [index, name] of entered.slice(0, limit).entries()) {
    if (name === entered[index - 1]) lengths.push(Number(lengths.pop()) + 1);
    else lengths.push(1);
  }
  return lengths;
}

async function publishedSoFar(redis: Redis): Promise<number> {
  return Number(/cmdstat_publish:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0);
}

test('handover ceiling: two processes take turns in blocks, and nobody is inside at the same moment', async () => {
  const course = newCourse(6 * BLOCK);
  const [first, second] = [connect(), connect()];
  startWaiters(first, 'first', 3, course);
  startWaiters(second, 'second', 3, course);
  await untilEnded(course);

  const [start = 0, ...blocks] = blocksOf(course);
  // The first process keeps the turn until the other one listens.
  expect(start % BLOCK).toBe(0);
  expect(blocks.length).toBeGreaterThan(1);
  expect(new Set(blocks)).toEqual(new Set([BLOCK]));
  expect(course.mostInside).toBe(1);
  await first.del(`${key()}:processes`);
});

test('handover ceiling: a process that is alone keeps the turn, and publishes it once a block', async () => {
  // It ends in the middle of a block.
  const course = newCourse(3.5 * BLOCK);
  const redis = connect();
  const before = await publishedSoFar(redis);
  startWaiters(redis, 'only', 2, course);
  await untilEnded(course);

  expect((await publishedSoFar(redis)) - before).toBe(3);
  await redis.del(`${key()}:processes`);
});

test('handover ceiling: the waiters of a process enter in the order of asking', async () => {
  const redis = connect();
  const locks = Array.from({ length: 20 }, () => createLock(lockOptions({ redis, key: key() })));
  const order: number[] = [];
  await Promise.all(
    locks.map(async (lock, index) => {
      await lock.acquire();
      order.push(index);
      await lock.release();
    }),
  );

  expect(order).toEqual(locks.map((_, index) => index));
  await redis.del(`${key()}:processes`);
});
