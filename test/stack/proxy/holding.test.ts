import { once } from 'node:events';
import { expect, test } from 'vitest';
import { createLock as createLuaRelease } from '../../../locks/6-lua-release.ts';
import { lockOptions } from '../../locks/lock-options.ts';
import { encode, isPending, linkedRedis, ownLinks } from './own-links.ts';

const redis = linkedRedis();
const { open, connect, connectRaw } = ownLinks();

test('link: the next command of a name waits until it is let go, and only that one', async () => {
  const [link, watcher] = [await open(redis.url()), redis.connect()];
  const client = await connect(link.url);
  const held = link.holdNext('del');
  await client.set(redis.key(), 'a');

  const deleted = client.del(redis.key());
  const command = await held.arrived;
  const before = await watcher.get(redis.key());
  const wasPending = await isPending(deleted);
  const hasReached = await held.letGo();

  expect(command).toMatchObject({ name: 'DEL', args: [redis.key()] });
  expect({ before, wasPending, hasReached, deleted: await deleted }).toEqual({
    before: 'a',
    wasPending: true,
    hasReached: true,
    deleted: 1,
  });
  expect(await client.del(redis.key())).toBe(0);
  expect(link.counters.held).toBe(1);
});

test('link: a hold in the middle of a pipeline passes what came before and keeps what comes after', async () => {
  const link = await open(redis.url());
  const client = await connectRaw(link.port);
  const held = link.holdNext(({ name, args }) => name === 'ECHO' && args[0] === 'b');

  client.socket.write(Buffer.concat(['a', 'b', 'c'].map((word) => encode('ECHO', word))));
  await held.arrived;
  await client.untilReceived('$1\r\na\r\n'.length);
  client.socket.write(encode('ECHO', 'd'));
  await expect.poll(() => link.counters.commands.get('ECHO')).toBe(4);
  const before = String(client.received());
  held.letGo();
  await client.untilReceived(4 * '$1\r\na\r\n'.length);

  expect(before).toBe('$1\r\na\r\n');
  expect(String(client.received())).toBe(['a', 'b', 'c', 'd'].map((word) => `$1\r\n${word}\r\n`).join(''));
});

test.each(['EVALSHA', 'EVAL'])('link: a script of ours is held by its name (%s)', async (name) => {
  const link = await open(redis.url());
  const lock = createLuaRelease(lockOptions({ redis: await connect(link.url), key: redis.key(), ownerToken: 'a' }));
  const watcher = redis.connect();
  await lock.acquire();
  // Of a script that Redis does not know, the lock sends the text after the hash: only the second one matters then.
  if (name === 'EVAL') await watcher.script('FLUSH');
  const hash = name === 'EVAL' ? link.holdNext('release-if-owner') : undefined;
  const held = link.holdNext('release-if-owner');

  const released = lock.release();
  await hash?.arrived;
  hash?.letGo();
  const command = await held.arrived;
  const before = await watcher.get(redis.key());
  held.letGo();
  await released;

  expect(command).toMatchObject({ name, script: 'release-if-owner' });
  expect(command.args.slice(1)).toEqual(['1', redis.key(), 'a']);
  expect(before).toBe('a');
  expect(await watcher.exists(redis.key())).toBe(0);
  expect(link.counters.commands.get('release-if-owner')).toBe(name === 'EVAL' ? 2 : 1);
});

test('link: a held command reaches Redis although its client has gone', async () => {
  const [link, watcher] = [await open(redis.url()), redis.connect()];
  const client = await connectRaw(link.port);
  const held = link.holdNext('SET');
  const left = once(client.socket, 'close');
  client.socket.write(Buffer.concat([encode('SET', redis.key(), 'late'), encode('APPEND', redis.key(), 'r')]));
  await held.arrived;

  client.socket.resetAndDestroy();
  await left;
  await watcher.set(redis.key(), 'b');
  const hasReached = await held.letGo();

  expect(hasReached).toBe(true);
  expect(await watcher.get(redis.key())).toBe('later');
  await watcher.del(redis.key());
});

test.each(['reset', 'silent'] as const)(
  'link: a held command reaches Redis although the line is cut (%s)',
  async (how) => {
    const [link, watcher] = [await open(redis.url()), redis.connect()];
    const client = await connect(link.url);
    const held = link.holdNext('SET');
    const set = client.set(redis.key(), 'late').catch((error: Error) => error.message);
    await held.arrived;

    link.cut(how);
    const hasReached = await held.letGo();
    await expect.poll(() => watcher.get(redis.key())).toBe('late');
    const wasPending = await isPending(set);
    link.restore();

    expect(hasReached).toBe(true);
    if (how === 'silent') expect(wasPending).toBe(true);
    expect(await set).toBe(how === 'silent' ? 'OK' : 'Connection is closed.');
    await watcher.del(redis.key());
  },
);

test('link: a hold waits for its command until it is cancelled or let go; what has arrived stays held', async () => {
  const link = await open(redis.url());
  const client = await connect(link.url);
  const [cancelled, early, held] = [link.holdNext('DEL'), link.holdNext('GET'), link.holdNext('ECHO')];
  cancelled.cancel();

  await expect(cancelled.arrived).rejects.toThrow('was cancelled');
  expect([await early.letGo(), await cancelled.letGo()]).toEqual([false, false]);
  expect([await client.del(redis.key()), await client.get(redis.key())]).toEqual([0, null]);
  const answer = client.echo('a');
  await held.arrived;
  held.cancel();
  await (await connect(link.url)).ping();
  expect(await isPending(answer)).toBe(true);
  held.letGo();
  expect(await answer).toBe('a');
});

test('link: a dropped command never reaches Redis, nor does what came after it', async () => {
  const [link, watcher] = [await open(redis.url()), redis.connect()];
  const [client, other] = [await connect(link.url), await connect(link.url)];
  const held = link.holdNext('APPEND');
  const sent = [client.set(redis.key(), 'a'), client.append(redis.key(), 'b'), client.append(redis.key(), 'c')];
  const outcomes = Promise.allSettled(sent);
  await Promise.all([sent[0], held.arrived]);

  held.drop();

  expect((await outcomes).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
  expect(await held.letGo()).toBe(false);
  expect(await other.ping()).toBe('PONG');
  expect(await watcher.get(redis.key())).toBe('a');
  await watcher.del(redis.key());
});

test('link: closing it ends what is held and what is waited for, and leaves no connection', async () => {
  const [link, watcher] = [await open(redis.url()), redis.connect()];
  const before = String(await watcher.client('LIST')).split('\n').length;
  const clients = await Promise.all(Array.from({ length: 10 }, () => connect(link.url)));
  const holds = clients.map(() => link.holdNext('ECHO'));
  const answers = Promise.allSettled(clients.map((client) => client.echo('a')));
  await Promise.all(holds.map((hold) => hold.arrived));
  const waited = link.holdNext('DEL');
  link.delayReplies(60_000);
  const delayed = clients.map((client) => client.ping().catch(() => 'ended'));
  link.cut('silent');
  await connectRaw(link.port);

  await Promise.all([link.close(), link.close()]);

  await expect(waited.arrived).rejects.toThrow('closed');
  expect((await answers).map(({ status }) => status)).not.toContain('fulfilled');
  expect(await Promise.all(delayed)).toEqual(clients.map(() => 'ended'));
  expect(await Promise.all(holds.map((hold) => hold.letGo()))).not.toContain(true);
  await expect.poll(async () => String(await watcher.client('LIST')).split('\n').length).toBe(before);
});
