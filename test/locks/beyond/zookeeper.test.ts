import { getEventListeners, once } from 'node:events';
import { type AddressInfo, createServer, connect as dial } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createLock } from '../../../locks/beyond/zookeeper.ts';
import { type OpenSession, openZookeeper, type ZookeeperSession } from '../../../locks/drivers/zookeeper-session.ts';
import { type Lock, LockNotHeldError, type LockOptions } from '../../../locks/lock.ts';
import { aborted, lockOptions, notHeld } from '../lock-options.ts';
import { startHolder } from '../start-holder.ts';
import { until } from '../until.ts';
import { ownZookeeper } from './own-zookeeper.ts';

const { url, connect, key, nodes, remove, kill, startAgain } = ownZookeeper();

/** Short enough to see sessions end, long enough that a busy machine is heard in time. */
const SESSION_MS = 600;
const unavailable = { name: 'ZookeeperUnavailableError', code: 'ZOOKEEPER_UNAVAILABLE' };

function lockOf(zookeeper: ZookeeperSession, given: Partial<LockOptions> = {}): Lock {
  return createLock(lockOptions({ redis: undefined as never, key: key(), zookeeper, ...given }));
}

/** Starts a waiter, and resolves when its node is in the queue and the one before it is watched. */
async function startWaiter(zookeeper: ZookeeperSession, given: Partial<LockOptions> = {}) {
  const seen = watchSession(zookeeper);
  const patience = new AbortController();
  const lock = lockOf(seen.zookeeper, given);
  const entered = lock.acquire(patience.signal);
  entered.catch(() => {});
  await until(async () => seen.watches.length === 1);
  // ZooKeeper answers in order: what was sent before has its answer now.
  await (await zookeeper.enter()).list('/locks');
  return { lock, entered, patience, seen };
}

/** The session as it is, and what is asked of it. */
function watchSession(zookeeper: ZookeeperSession) {
  const watches: string[] = [];
  let lists = 0;
  const watched = (session: OpenSession): OpenSession => ({
    ...session,
    list(folder) {
      lists += 1;
      return session.list(folder);
    },
    untilGone(path, signal) {
      watches.push(path);
      return session.untilGone(path, signal);
    },
  });
  return {
    zookeeper: { enter: async () => watched(await zookeeper.enter()), close: zookeeper.close },
    /** The nodes that were watched. */
    watches,
    /** How often the queue was looked at. */
    lists: () => lists,
  };
}

/** Counts how often a holder learns that its lock is lost. */
function losses() {
  let count = 0;
  const record = () => {
    count += 1;
  };
  return { record, count: () => count };
}

describe('the contract', () => {
  test('a free lock is acquired, released and acquired again, and leaves no node', async () => {
    const [a, b] = [lockOf(connect()), lockOf(connect())];

    await a.acquire(AbortSignal.abort());
    await a.release();
    await b.acquire();
    await b.release();

    expect(await nodes(key())).toEqual([]);
  });

  test('a held lock keeps the holders of this session and of others out, at one try', async () => {
    const zookeeper = connect();
    const a = lockOf(zookeeper);
    await a.acquire();

    await expect(lockOf(zookeeper).acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);
    await expect(lockOf(connect()).acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);

    expect(await nodes(key())).toHaveLength(1);
    await a.release();
  });

  test('a held lock keeps nobody from another key, nor from another folder of the server', async () => {
    const zookeeper = connect();
    const locks = [
      lockOf(zookeeper),
      lockOf(zookeeper, { key: `${key()} (other)` }),
      lockOf(connect(30_000, '/stack-2')),
    ];

    for (const lock of locks) await lock.acquire(AbortSignal.abort());

    for (const lock of locks) await lock.release();
  });

  test('waiters enter in the order in which they came, and not before the holder has left', async () => {
    const zookeepers = [connect(), connect()] as const;
    const events: string[] = [];
    const a = lockOf(zookeepers[0]);
    await a.acquire();
    const waiters = [];
    for (const name of ['b', 'c', 'd', 'e']) {
      const waiter = await startWaiter(zookeepers[waiters.length % 2] as ZookeeperSession);
      waiters.push(
        waiter.entered.then(() => {
          events.push(name);
          return waiter.lock.release();
        }),
      );
    }

    events.push('a leaves');
    await a.release();
    await Promise.all(waiters);

    expect(events).toEqual(['a leaves', 'b', 'c', 'd', 'e']);
  });

  test('an abort ends the wait at once with its reason, and takes the node out of the queue', async () => {
    const zookeeper = connect();
    const reason = new Error('The client has gone.');
    const a = lockOf(zookeeper);
    await a.acquire();
    const b = await startWaiter(zookeeper);

    b.patience.abort(reason);

    await expect(b.entered).rejects.toMatchObject({ ...aborted, cause: reason });
    expect(await nodes(key())).toHaveLength(1);
    expect(getEventListeners(b.patience.signal, 'abort')).toEqual([]);
    await a.release();
    expect(await nodes(key())).toEqual([]);
  });

  test('a release rejects when the lock was never acquired, was released, or its node is gone', async () => {
    const lock = lockOf(connect());

    await expect(lock.release()).rejects.toMatchObject(notHeld);
    await lock.acquire();
    await lock.release();
    await expect(lock.release()).rejects.toMatchObject(notHeld);
    await lock.acquire();
    await remove(key(), (await nodes(key()))[0]?.name as string);
    await expect(lock.release()).rejects.toMatchObject(notHeld);
  });

  test('20 contenders over two sessions that read, pause and write lose no update', async () => {
    const zookeepers = [connect(), connect()] as const;
    let [shared, inside, mostInside] = [0, 0, 0];
    const tokens: bigint[] = [];

    await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const lock = lockOf(zookeepers[index % 2] as ZookeeperSession);
        await lock.acquire();
        inside += 1;
        mostInside = Math.max(mostInside, inside);
        tokens.push(BigInt(lock.fencingToken as string));
        const read = shared;
        await (await zookeepers[0].enter()).list('/locks');
        shared = read + 1;
        inside -= 1;
        await lock.release();
      }),
    );

    expect([shared, mostInside]).toEqual([20, 1]);
    expect(tokens).toEqual(tokens.toSorted((a, b) => (a < b ? -1 : 1)));
    expect(new Set(tokens).size).toBe(20);
  });
});

describe('another lock object of the same request', () => {
  const ofRequest = { ownerToken: 'service:request-1' };

  test('enters at one try, by the same node and with the same token', async () => {
    const zookeeper = connect();
    const [outer, inner] = [lockOf(zookeeper, ofRequest), lockOf(zookeeper, ofRequest)];
    await outer.acquire();

    await inner.acquire(AbortSignal.abort());

    expect(inner.fencingToken).toBe(outer.fencingToken);
    expect(await nodes(key())).toHaveLength(1);
    await inner.release();
    await outer.release();
    expect(await nodes(key())).toEqual([]);
  });

  test.each([
    ['the inner one first', [1, 0, 2]],
    ['the outer one first', [0, 2, 1]],
  ])('the lock is free when the last of three has released it: %s', async (_order, order) => {
    const zookeeper = connect();
    const locks = [0, 1, 2].map(() => lockOf(zookeeper, ofRequest));
    const other = lockOf(connect());
    for (const lock of locks) await lock.acquire();

    for (const index of order) {
      await expect(other.acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);
      await locks[index]?.release();
    }

    await other.acquire(AbortSignal.abort());
    await other.release();
    await expect(locks[0]?.release()).rejects.toMatchObject(notHeld);
  });

  test('a request whose name begins with that of the holder is another one', async () => {
    const zookeeper = connect();
    const lock = lockOf(zookeeper, ofRequest);
    await lock.acquire();

    const other = lockOf(zookeeper, { ownerToken: `${ofRequest.ownerToken}0` });
    await expect(other.acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);

    await lock.release();
  });

  test('does not enter by the node of another session, which may be about to go', async () => {
    const outer = lockOf(connect(), ofRequest);
    await outer.acquire();

    await expect(lockOf(connect(), ofRequest).acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);

    await outer.release();
  });

  test('learns as the first one does that the session has ended', async () => {
    const zookeeper = connect();
    const lost = losses();
    const locks = [0, 1].map(() => lockOf(zookeeper, { ...ofRequest, onLeaseLost: lost.record }));
    for (const lock of locks) await lock.acquire();

    await zookeeper.close();

    expect(lost.count()).toBe(2);
    for (const lock of locks) await expect(lock.release()).rejects.toMatchObject(notHeld);
  });
});

describe('no herd', () => {
  test('each waiter watches the one before it, and a release wakes one of them', async () => {
    const zookeeper = connect();
    const a = lockOf(zookeeper);
    await a.acquire();
    const waiters = [];
    for (let n = 0; n < 10; n += 1) waiters.push(await startWaiter(zookeeper));
    const [b, ...others] = waiters;

    await a.release();
    await b?.entered;
    await (await zookeeper.enter()).list('/locks');

    expect(new Set(waiters.flatMap(({ seen }) => seen.watches)).size).toBe(10);
    expect(b?.seen.lists()).toBe(2);
    expect(others.map(({ seen }) => seen.lists())).toEqual(others.map(() => 1));
    await b?.lock.release();
    for (const { entered, lock } of others) await entered.then(lock.release);
  });

  test('a waiter that leaves wakes the one behind it, which looks again and waits on', async () => {
    const zookeeper = connect();
    const a = lockOf(zookeeper);
    await a.acquire();
    const [b, c, d] = [await startWaiter(zookeeper), await startWaiter(zookeeper), await startWaiter(zookeeper)];

    b.patience.abort();
    await until(async () => c.seen.watches.length === 2);

    expect(c.seen.watches[1]).toBe(b.seen.watches[0]);
    expect(d.seen.lists()).toBe(1);
    await a.release();
    await c.entered.then(c.lock.release);
    await d.entered.then(d.lock.release);
  });
});

describe('the fencing token', () => {
  test('grows from holder to holder, over sessions, and over a restart of the server', async () => {
    const tokens: bigint[] = [];
    async function hold(zookeeper: ZookeeperSession) {
      const lock = lockOf(zookeeper);
      await lock.acquire();
      tokens.push(BigInt(lock.fencingToken as string));
      await lock.release();
    }

    const first = connect();
    await hold(first);
    await hold(first);
    await first.close();
    await hold(connect());
    await kill();
    await startAgain();
    await hold(connect());

    expect(tokens.slice(1).every((token, index) => token > (tokens[index] as bigint))).toBe(true);
  });
});

describe('a session that ends', () => {
  test('closed: its nodes go at once, its holders learn it once, and its waiters end', async () => {
    const zookeeper = connect();
    const lost = losses();
    const a = lockOf(zookeeper, { onLeaseLost: lost.record });
    await a.acquire();
    const b = await startWaiter(zookeeper);
    const c = await startWaiter(connect());

    await zookeeper.close();

    await expect(b.entered).rejects.toMatchObject(unavailable);
    await c.entered;
    expect(lost.count()).toBe(1);
    expect(a.lost?.reason).toBeInstanceOf(LockNotHeldError);
    await expect(a.release()).rejects.toMatchObject(notHeld);
    await c.lock.release();
  });

  test('a killed holder keeps the others out until its session ends', async () => {
    const b = lockOf(connect());
    const a = await startHolder({ stage: 'zookeeper', url: url(), key: key(), leaseMs: SESSION_MS });

    await expect(b.acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);
    await a.kill();
    await b.acquire();

    expect(a.said).toEqual(['asking', 'entered']);
    await b.release();
  });

  test('a process that is stopped for longer than its session learns of it when it wakes, and has the older token', async () => {
    const b = lockOf(connect());
    const a = await startHolder({ stage: 'zookeeper', url: url(), key: key(), leaseMs: SESSION_MS });
    const older = (await nodes(key()))[0]?.czxid as bigint;

    a.pause();
    await b.acquire();
    const saidBefore = [...a.said];
    a.wake();
    await a.untilSaid('lease-lost');
    a.resume();
    await a.untilSaid('LOCK_NOT_HELD');

    expect(saidBefore.at(-1)).toBe('entered');
    expect(BigInt(b.fencingToken as string)).toBeGreaterThan(older);
    await b.release();
  });

  test('a server that is killed: holders and waiters learn it at once, and it is all free when it comes back', async () => {
    const zookeeper = connect();
    const lost = losses();
    const a = lockOf(zookeeper, { onLeaseLost: lost.record });
    await a.acquire();
    const b = await startWaiter(zookeeper);

    await kill();
    await expect(b.entered).rejects.toMatchObject(unavailable);
    expect([lost.count(), a.lost?.aborted]).toEqual([1, true]);
    await expect(lockOf(zookeeper).acquire()).rejects.toMatchObject(unavailable);
    await startAgain();

    // It drops who comes while it starts, so the first try may be in vain.
    const c = lockOf(zookeeper);
    await until(() =>
      c.acquire().then(
        () => true,
        () => false,
      ),
    );
    await c.release();
  });

  test('a connection that nobody greets back is cut, and the next one serves', async () => {
    let connections = 0;
    // The first connection is taken and left alone, as by a server that is just starting.
    const line = createServer((from) => {
      connections += 1;
      from.on('error', () => {});
      if (connections === 1) return;
      const [host, port] = url().split(':');
      const to = dial(Number(port), host);
      to.on('error', () => {});
      from.pipe(to).pipe(from);
    });
    await once(line.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void line.close());
    const zookeeper = openZookeeper({ url: `127.0.0.1:${(line.address() as AddressInfo).port}`, sessionMs: 30_000 });
    const lock = lockOf(zookeeper);

    await until(() =>
      lock.acquire().then(
        () => true,
        () => false,
      ),
    );

    expect(connections).toBe(2);
    await lock.release();
    await zookeeper.close();
  });
});
