import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readPromises } from '../../../loadtest/evidence/promises.ts';
import { loadPeer, type Peer, peerNames, peers } from '../../../loadtest/peers/peer.ts';
import { checkNames } from '../../../loadtest/staircase/conformance.ts';
import { lockStaircase } from '../../../loadtest/staircase/lock-stages.ts';
import { projectDir } from '../../../stack/parts.ts';
import { lockOptions } from '../../locks/lock-options.ts';
import { ownRedis } from '../../locks/own-redis.ts';

const { connect, key } = ownRedis();
const peersDir = join(projectDir, 'loadtest/peers');

test('peers: every published lock that is installed has an adapter, and each is in the list', () => {
  const { dependencies } = JSON.parse(readFileSync(join(peersDir, 'package.json'), 'utf8'));
  // Clients of some of them, and the frame that murlock needs.
  const beside = ['redis', 'redis-4', '@nestjs/common', '@nestjs/core'];

  const packages = [...new Set(Object.values(peers).map(({ package: name }) => name))];
  expect(Object.keys(dependencies).filter((name) => !beside.includes(name))).toEqual(packages.toSorted());
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
    createLock(lockOptions({ redis, masters: [redis], key: lockKey, leaseMs: 1_000 }));

  test('tells its version, its options, and what it does not promise, drill by drill', () => {
    const { package: folder, onNpm, hasMasters } = peers[name] as (typeof peers)[string];
    const installed = JSON.parse(readFileSync(join(peersDir, 'node_modules', folder, 'package.json'), 'utf8'));
    expect([installed.name, installed.version.replace(/^v/, '')]).toEqual([onNpm, peer.version]);
    expect(Object.keys(peer.options)).not.toEqual([]);
    const cells = [...Object.keys(lockStaircase.columns), ...checkNames];
    expect(Object.keys(peer.doesNotPromise).filter((cell) => !cells.includes(cell))).toEqual([]);
    expect(readPromises(peer.promises).masters ?? false).toBe(hasMasters);
  });

  test('a free lock is entered, and a second release is refused', async () => {
    const lock = create(peer, key());
    await lock.acquire();
    await lock.release();
    await expect(lock.release()).rejects.toMatchObject({ code: 'LOCK_NOT_HELD' });
  });

  test('a held lock: one try and a wait that is cancelled reject, with the reason; a waiter enters when the holder has left', async () => {
    const [holder, waiter] = [create(peer, key()), create(peer, key())];
    await holder.acquire();
    const patience = new AbortController();
    const waited = waiter.acquire(patience.signal);
    patience.abort('enough');
    await expect(waited).rejects.toMatchObject({ name: 'AbortError', code: 'ABORT_ERR', cause: 'enough' });
    const once = waiter.acquire(AbortSignal.abort('at once'));
    await expect(once).rejects.toMatchObject({ name: 'AbortError', cause: 'at once' });
    const order: string[] = [];
    const entered = waiter.acquire().then(() => order.push('entered'));
    await redis.ping();
    order.push('left');
    await holder.release();
    await entered;
    await waiter.release();
    expect(order).toEqual(['left', 'entered']);
  });
});
