import { mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { beforeAll, expect, test } from 'vitest';
import { cleanUpLater } from '../../clean-up.ts';
import {
  expectProblem,
  startNode,
  startRedis,
  type TestNode,
  type TestRedis,
  until,
} from '../../services/inventory/node-under-test.ts';

let redis: TestRedis;
let node: TestNode;

beforeAll(async () => {
  redis = await startRedis();
  // A sale that waits is not answered within this test.
  node = await startNode(redis.url, { WAIT_TIMEOUT_MS: '600000' });
});

const config = (name: string, refusing: string, usual: string) => async () => {
  await redis.client.config('SET', name, refusing);
  return () => redis.client.config('SET', name, usual);
};

test.each<[word: string, locks: string[], begin: () => Promise<() => Promise<unknown>>]>([
  ['OOM', ['4', '8', 'redis-atomic'], config('maxmemory', '1', '0')],
  ['NOREPLICAS', ['4', '8', 'redis-atomic'], config('min-replicas-to-write', '1', '0')],
  [
    'READONLY',
    ['4', '8', 'redis-atomic'],
    async () => {
      await redis.client.config('SET', 'replica-serve-stale-data', 'yes');
      await redis.client.replicaof('127.0.0.1', '1');
      return () => redis.client.replicaof('NO', 'ONE');
    },
  ],
  [
    'NOPERM',
    ['4', 'redis-atomic'],
    async () => {
      await redis.client.acl('SETUSER', 'default', '-set', '-eval', '-evalsha');
      return () => redis.client.acl('SETUSER', 'default', '+@all');
    },
  ],
  [
    'MISCONF',
    ['4', '8', 'redis-atomic'],
    async () => {
      // The file of a snapshot can't take the place of a folder.
      const [, dir = ''] = (await redis.client.config('GET', 'dir')) as string[];
      const inTheWay = join(dir, 'dump.rdb');
      mkdirSync(inTheWay);
      await redis.client.config('SET', 'save', '3600 1');
      await redis.client.bgsave();
      // The last one may have failed, too.
      const isOver = async () => {
        const info = await redis.client.info('persistence');
        return info.includes('rdb_bgsave_in_progress:0') && info.includes('rdb_last_bgsave_status:err');
      };
      await until('the snapshot has failed', isOver);
      return async () => {
        await redis.client.config('SET', 'save', '');
        rmdirSync(inTheWay);
      };
    },
  ],
  [
    'BUSY',
    ['4', '8', 'redis-atomic'],
    async () => {
      await redis.client.config('SET', 'busy-reply-threshold', '1');
      const other = new Redis(redis.url);
      cleanUpLater(() => other.disconnect());
      const endless = other.eval('while true do end', 0).catch(() => {});
      await until('Redis is busy', () =>
        redis.client.get('x').then(
          () => false,
          ({ message }: Error) => message.startsWith('BUSY'),
        ),
      );
      return async () => {
        await redis.client.script('KILL');
        await endless;
      };
    },
  ],
])('refusal: %s ends each sale at once with the words of Redis, and not in doubt', async (word, locks, begin) => {
  for (const version of locks) {
    expect((await node.lab('PUT', '/lock-version', { version })).status).toBe(200);
    await redis.client.set('{inventory001}:stock', 10);
    const end = await begin();

    const answer = await node.sell('001');
    await end();

    expectProblem(answer, 'STORE_UNAVAILABLE', {
      definite: true,
      detail: new RegExp(`refused it before the sale was written: .*${word} `),
    });
    expect(await redis.client.get('{inventory001}:stock')).toBe('10');
    await until('the node sells again', async () => (await node.sell('001')).status === 200);
  }
});
