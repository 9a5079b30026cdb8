import { setImmediate as immediate } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { makeTempDir } from '../../../stack/parts.ts';
import { openRedis } from '../../../stack/redis.ts';
import { encode, isPending, linkedRedis, ownLinks, someTurns } from './own-links.ts';

const redis = linkedRedis();
const { open, connect, connectRaw } = ownLinks();

const DELAY_MS = 150;

test('link: each reply comes by so much later, in order, and with the distance that they had', async () => {
  const [link, watcher] = [await open(redis.url()), redis.connect()];
  const client = await connectRaw(link.port);
  const reply = '$1\r\na\r\n'.length;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  link.delayReplies(DELAY_MS);

  client.socket.write(encode('ECHO', 'a'));
  while (vi.getTimerCount() === 0) await immediate();
  vi.advanceTimersByTime(20);
  const { commands } = link.counters;
  client.socket.write(Buffer.concat([encode('ECHO', 'b'), encode('ECHO', 'c')]));
  while (commands.get('ECHO') !== 3) await immediate();
  await someTurns(watcher);
  vi.advanceTimersByTime(DELAY_MS - 21);
  await someTurns(watcher);
  expect(client.receivedLength()).toBe(0);
  vi.advanceTimersByTime(1);
  await client.untilReceived(reply);
  await someTurns(watcher);
  expect(String(client.received())).toBe('$1\r\na\r\n');
  vi.advanceTimersByTime(DELAY_MS);
  await client.untilReceived(3 * reply);

  expect(String(client.received())).toBe(['a', 'b', 'c'].map((word) => `$1\r\n${word}\r\n`).join(''));
});

test('link: commands are not delayed, and ending the delay passes on the replies that wait', async () => {
  const [link, watcher] = [await open(redis.url()), redis.connect()];
  const client = await connectRaw(link.port);
  link.delayReplies(60_000);

  client.socket.write(Buffer.concat([encode('APPEND', redis.key(), 'a'), encode('APPEND', redis.key(), 'b')]));
  await expect.poll(() => watcher.get(redis.key())).toBe('ab');
  const before = client.receivedLength();
  link.delayReplies(0);
  client.socket.write(encode('GETDEL', redis.key()));
  await client.untilReceived(':1\r\n:2\r\n$2\r\nab\r\n'.length);

  expect(before).toBe(0);
  expect(String(client.received())).toBe(':1\r\n:2\r\n$2\r\nab\r\n');
});

test('link: a cut line resets clients, and new ones until it is restored', async () => {
  const link = await open(redis.url());
  const client = await connectRaw(link.port);

  link.cut();
  const whileCut = await connectRaw(link.port);
  const outcomes = [await client.ended, await whileCut.ended];
  link.restore();
  const after = await connect(link.url);

  expect(outcomes).toEqual(['reset', 'reset']);
  expect(await after.ping()).toBe('PONG');
  expect(link.counters.connections).toBe(2);
});

test('link: a silent line closes nothing and delivers nothing until it is restored', async () => {
  const [link, watcher] = [await open(redis.url()), redis.connect()];
  const client = await connect(link.url);
  await client.set(redis.key(), 'a');
  link.cut('silent');

  const answers = Promise.all([client.append(redis.key(), 'b'), client.append(redis.key(), 'c')]);
  const newcomer = await connectRaw(link.port);
  newcomer.socket.write(encode('APPEND', redis.key(), 'd'));
  await someTurns(watcher);
  const before = { value: await watcher.get(redis.key()), status: client.status, isPending: await isPending(answers) };
  link.restore();

  expect(before).toEqual({ value: 'a', status: 'ready', isPending: true });
  expect(await answers).toHaveLength(2);
  await newcomer.untilReceived(':4\r\n'.length);
  expect(await watcher.getdel(redis.key())).toMatch(/^a(bcd|dbc|bdc)$/);
});

test('link: moved to another Redis it ends its connections and what they hold, and leads new ones there', async () => {
  const temp = makeTempDir();
  const second = await openRedis(undefined, temp);
  onTestFinished(async () => {
    await second.part?.stop();
    temp.remove();
  });
  const [link, there] = [await open(redis.url()), await connect(second.url)];
  await there.set(redis.key(), 'second');
  const client = await connect(link.url);
  const held = link.holdNext('SET');
  const set = client.set(redis.key(), 'late');
  await held.arrived;

  await Promise.all([expect(set).rejects.toThrow('Connection is closed'), link.moveTo(second.url)]);
  const after = await connect(link.url);

  expect(await held.letGo()).toBe(false);
  expect(await after.getdel(redis.key())).toBe('second');
  expect(await redis.connect().exists(redis.key())).toBe(0);
});
