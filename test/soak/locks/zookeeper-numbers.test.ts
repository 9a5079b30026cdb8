import { expect, test } from 'vitest';
import { createLock } from '../../../locks/beyond/zookeeper.ts';
import type { ZookeeperSession } from '../../../locks/drivers/zookeeper-session.ts';
import { ownZookeeper } from '../../locks/beyond/own-zookeeper.ts';
import { aborted, lockOptions } from '../../locks/lock-options.ts';
import { until } from '../../locks/until.ts';
import { setCounter } from './zookeeper-counter.ts';

const { connect, key, nodes, kill, startAgain, dataDir } = ownZookeeper();
const lockOf = (zookeeper: ZookeeperSession) =>
  createLock(lockOptions({ redis: undefined as never, key: key(), zookeeper }));

/** From now on the next numbered node in the queue, which must be there, gets this number. */
async function startAgainAt(number: number) {
  await kill();
  // A server that starts saves what it has.
  await startAgain();
  await kill();
  setCounter(dataDir(), `/locks/${encodeURIComponent(key())}`, number);
  await startAgain();
}

test('zookeeper: a queue whose numbers are used up: one holder at a time, in the order of coming, and the token grows', async () => {
  const first = lockOf(connect());
  await first.acquire();
  await first.release();
  // A signed number of 32 bits: after this one ZooKeeper 3.8 gives it to every node.
  await startAgainAt(2 ** 31 - 2);
  const zookeepers = [connect(), connect()] as const;
  const entries: number[] = [];
  const tokens: bigint[] = [];
  const a = lockOf(zookeepers[0]);
  await a.acquire();

  for (let tries = 0; tries < 10; tries += 1)
    await expect(lockOf(zookeepers[1]).acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);
  const waiters = [];
  for (let n = 0; n < 6; n += 1) {
    const lock = lockOf(zookeepers[n % 2] as ZookeeperSession);
    waiters.push(
      lock.acquire().then(() => {
        entries.push(n);
        tokens.push(BigInt(lock.fencingToken as string));
        return lock.release();
      }),
    );
    await until(async () => (await nodes(key())).length === n + 2);
  }
  tokens.push(BigInt(a.fencingToken as string));
  await a.release();
  await Promise.all(waiters);

  expect(entries).toEqual([0, 1, 2, 3, 4, 5]);
  expect(tokens.every((token, index) => index === 0 || token > (tokens[index - 1] as bigint))).toBe(true);
  expect(await nodes(key())).toEqual([]);
});
