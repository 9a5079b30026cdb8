import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadPeer, type Peer, peerNames } from '../../../loadtest/peers/peer.ts';
import { lockStaircase } from '../../../loadtest/staircase/locks.ts';
import { projectDir } from '../../../scripts/stack/parts.ts';
import { lockOptions } from '../../locks/lock-options.ts';
import { ownRedis } from '../../locks/own-redis.ts';

const { connect, key } = ownRedis();
const peersDir = join(projectDir, 'loadtest/peers');

test('peers: every published lock that is installed is an adapter, and each is in the list', () => {
  const { dependencies } = JSON.parse(readFileSync(join(peersDir, 'package.json'), 'utf8'));
  const adapters = readdirSync(peersDir).filter((file) => peerNames.includes(file.replace('.ts', '')));

  expect(adapters.map((file) => file.replace('.ts', '')).toSorted()).toEqual(peerNames.toSorted());
  // node-redis is the client of one of them.
  expect(Object.keys(dependencies).filter((name) => name !== 'redis')).toEqual(peerNames.toSorted());
});

describe.each(peerNames)('%s', (name) => {
  let redis: Redis;
  let peer: Awaited<ReturnType<typeof loadPeer>>;
  beforeAll(async () => {
    redis = connect();
    peer = await loadPeer(name);
  });
  // simple-redis-mutex counts its tokens under a key of its own.
  afterAll(() => redis.del('@simple-redis-mutex:fencing-tokens'));

  const create = ({ createLock }: Peer, lockKey: string) =>
    createLock(lockOptions({ redis, key: lockKey, leaseMs: 1_000 }));

  test('tells its version, its options, and what it does not promise, drill by drill', () => {
    const { version } = JSON.parse(readFileSync(join(peersDir, 'node_modules', name, 'package.json'), 'utf8'));
    expect(peer.version).toBe(version.replace(/^v/, ''));
    expect(Object.keys(peer.options)).not.toEqual([]);
    expect(Object.keys(peer.doesNotPromise).filter((drill) => !(drill in lockStaircase.columns))).toEqual([]);
  });

  test('is one at a time: a waiter enters when the holder has left', async () => {
    const [holder, waiter] = [create(peer, key()), create(peer, key())];
    const order: string[] = [];
    await holder.acquire();
    const waited = waiter.acquire().then(() => order.push('entered'));
    await redis.ping();
    order.push('left');
    await holder.release();
    await waited;
    await waiter.release();
    expect(order).toEqual(['left', 'entered']);
  });

  test('a held lock: one try and a wait that is cancelled reject with AbortError and its reason, and hold nothing', async () => {
    const [holder, waiter] = [create(peer, key()), create(peer, key())];
    await holder.acquire();
    const patience = new AbortController();
    const waited = waiter.acquire(patience.signal);
    patience.abort('enough');
    await expect(waited).rejects.toMatchObject({ name: 'AbortError', code: 'ABORT_ERR', cause: 'enough' });
    await expect(waiter.acquire(AbortSignal.abort('at once'))).rejects.toMatchObject({
      name: 'AbortError',
      cause: 'at once',
    });
    await holder.release();
    await waiter.acquire();
    await waiter.release();
  });

  test('a free lock: one try gets it, and a second release is refused', async () => {
    const lock = create(peer, key());
    await lock.acquire(AbortSignal.abort());
    await lock.release();
    await expect(lock.release()).rejects.toMatchObject({ code: 'LOCK_NOT_HELD' });
  });
});
