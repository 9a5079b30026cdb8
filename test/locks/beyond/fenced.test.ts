import { expect, test } from 'vitest';
import { createLock } from '../../../locks/beyond/fenced.ts';
import { type RunScript, readScript } from '../../../locks/drivers/script.ts';
import { aborted, lockOptions, notHeld } from '../lock-options.ts';
import { ownRedis } from '../own-redis.ts';
import { watchClient } from '../watched-client.ts';

const { connect, key } = ownRedis();
const readIfNewest: RunScript<string | null | -1> = readScript('read-if-newest');
const writeIfNewest = readScript('write-if-newest');
const keys = () => [key(), `${key()}:tokens`, `${key()}:stock`, `${key()}:fence`];

/** Reads the stock with the holder's token, and resolves with it, or with -1 when it is refused. */
const read = ({ fencingToken = '0' }: { fencingToken?: string | undefined }) =>
  readIfNewest(connect(), [`${key()}:stock`, `${key()}:fence`], ['fenced', fencingToken]);

/** Writes the stock with the holder's token, and resolves with 1, or with 0 when it is refused. */
const write = (stock: number, { fencingToken = '0' }: { fencingToken?: string | undefined }) =>
  writeIfNewest(connect(), [`${key()}:stock`, `${key()}:fence`], [stock, 'fenced', fencingToken]);

test('fenced: each holder has a larger token than the one before, and keeps it when it acquires again', async () => {
  const [redis, other] = [connect(), connect()];
  const tokens: (string | undefined)[] = [];
  for (const client of [redis, other, redis]) {
    const lock = createLock(lockOptions({ redis: client, key: key() }));
    await lock.acquire();
    await lock.acquire();
    tokens.push(lock.fencingToken);
    await lock.release();
    await lock.release();
  }

  expect(tokens).toEqual(['1', '2', '3']);
  await redis.del(keys());
});

test('fenced: a holder whose lease ran out is refused once the next one has written', async () => {
  const redis = connect();
  const paused = createLock(lockOptions({ redis, key: key() }));
  const next = createLock(lockOptions({ redis: connect(), key: key() }));
  await paused.acquire();
  await redis.del(key());
  await next.acquire();

  expect(await write(99, next)).toBe(1);
  expect(await write(42, paused)).toBe(0);

  expect(await redis.get(`${key()}:stock`)).toBe('99');
  await expect(paused.release()).rejects.toMatchObject(notHeld);
  await next.release();
  await redis.del(keys());
});

test('fenced: a holder whose lease ran out is refused once the next one has read, though nobody has written', async () => {
  const redis = connect();
  const paused = createLock(lockOptions({ redis, key: key() }));
  const next = createLock(lockOptions({ redis: connect(), key: key() }));
  await redis.set(`${key()}:stock`, 100);
  await paused.acquire();
  expect(await read(paused)).toBe('100');
  await redis.del(key());
  await next.acquire();
  expect(await read(next)).toBe('100');

  expect(await write(99, paused)).toBe(0);
  expect(await read(paused)).toBe(-1);
  expect(await write(99, next)).toBe(1);

  await expect(paused.release()).rejects.toMatchObject(notHeld);
  await next.release();
  await redis.del(keys());
});

test('fenced: until the next one has read the late write is still the newest, and the next one reads what it wrote', async () => {
  const redis = connect();
  const paused = createLock(lockOptions({ redis, key: key() }));
  const next = createLock(lockOptions({ redis: connect(), key: key() }));
  await paused.acquire();
  await redis.del(key());
  await next.acquire();

  expect(await write(42, paused)).toBe(1);
  expect(await read(next)).toBe('42');
  expect(await write(41, next)).toBe(1);

  await expect(paused.release()).rejects.toMatchObject(notHeld);
  await next.release();
  await redis.del(keys());
});

test('fenced: the token is made in the command that takes the lock, so that none can overtake it', async () => {
  const watch = watchClient(connect());
  const lock = createLock(lockOptions({ redis: watch.client, key: key() }));

  await lock.acquire();

  expect(watch.sent).toEqual(['evalsha']);
  await lock.release();
  await connect().del(keys());
});

test('fenced: a renewal that finds the lock gone tells the holder, once', async () => {
  const redis = connect();
  let losses = 0;
  const lock = createLock(
    lockOptions({
      redis,
      key: key(),
      leaseMs: 300,
      onLeaseLost: () => {
        losses += 1;
      },
    }),
  );
  await lock.acquire();
  const lost = new Promise((resolve) => lock.lost?.addEventListener('abort', resolve));

  await redis.del(key());
  await lost;

  expect(lock.lost?.reason).toMatchObject(notHeld);
  expect(losses).toBe(1);
  await expect(lock.release()).rejects.toMatchObject(notHeld);
  await redis.del(keys());
});

test('fenced: a try that fails makes no token', async () => {
  const redis = connect();
  const a = createLock(lockOptions({ redis, key: key() }));
  const b = createLock(lockOptions({ redis: connect(), key: key() }));
  await a.acquire();

  await expect(b.acquire(AbortSignal.abort())).rejects.toMatchObject(aborted);

  expect(b.fencingToken).toBeUndefined();
  expect(await redis.get(`${key()}:tokens`)).toBe('1');
  await a.release();
  await redis.del(keys());
});
