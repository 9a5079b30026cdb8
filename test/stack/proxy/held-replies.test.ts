import { expect, onTestFinished, test } from 'vitest';
import { makeTempDir } from '../../../stack/parts.ts';
import type { Exchange } from '../../../stack/proxy/link.ts';
import { openRedis } from '../../../stack/redis.ts';
import { encode, isPending, linkedRedis, ownLinks, someTurns } from './own-links.ts';

const redis = linkedRedis();
const { openReading: open, connect, connectRaw } = ownLinks();

const told = ({ command: { name, args }, reply }: Exchange) => `${[name, ...args].join(' ')} → ${reply.text}`;

test('link: each reply is told with its command, those of a pipeline in order, until that is ended', async () => {
  const link = await open(redis.url());
  const [client, other] = [await connectRaw(link.port), await connect(link.url)];
  const seen: Exchange[] = [];
  const end = link.watchReplies((exchange) => seen.push(exchange));

  client.socket.write(
    Buffer.concat([encode('echo', 'a'), encode('LPOP', 'none'), encode('INCR'), encode('TIME', '1')]),
  );
  await expect.poll(() => seen.map(told)).toHaveLength(4);
  await other.echo('b');
  end();
  await other.echo('c');

  expect(seen.map(told).map((line) => line.replace(/ERR.*/, 'ERR'))).toEqual([
    'ECHO a → a',
    'LPOP none → nil',
    'INCR → error ERR',
    'TIME 1 → error ERR',
    'ECHO b → b',
  ]);
  expect(seen.map(({ command }) => command.connection)).toEqual([1, 1, 1, 1, 2]);
  expect(seen.every(({ sentAt, at }) => sentAt <= at)).toBe(true);
});

test('link: a held reply: Redis has done it, its client is told nothing more, and all others go on', async () => {
  const [link, watcher] = [await open(redis.url()), redis.connect()];
  const [client, other] = [await connect(link.url), await connect(link.url)];
  const held = link.holdNextReply('APPEND');

  const first = client.append(redis.key(), 'a');
  const exchange = await held.arrived;
  const later = client.append(redis.key(), 'b');
  await expect.poll(() => watcher.get(redis.key())).toBe('ab');
  const othersAnswer = await other.append(redis.key(), 'c');
  await someTurns(watcher);
  const werePending = [await isPending(first), await isPending(later)];
  held.letGo();

  expect(told(exchange)).toBe(`APPEND ${redis.key()} a → 1`);
  expect(werePending).toEqual([true, true]);
  expect([await first, await later, othersAnswer]).toEqual([1, 2, 3]);
  expect(held.isGone()).toBe(false);
  await watcher.del(redis.key());
});

test('link: the oldest hold that means a reply gets it; one that is let go before waits for none', async () => {
  const link = await open(redis.url());
  const client = await connect(link.url);
  const holds = ['a', 'b', 'b'].map((word) => link.holdNextReply(({ args }) => args[0] === word));
  const [early, older, younger] = holds as [(typeof holds)[0], (typeof holds)[0], (typeof holds)[0]];
  early.letGo();

  expect(await client.echo('a')).toBe('a');
  const answers = [client.echo('b'), client.echo('b')];
  await Promise.all([older.arrived, younger.arrived]);
  younger.letGo();
  await (await connect(link.url)).ping();
  const werePending = await Promise.all(answers.map(isPending));
  older.letGo();

  expect(werePending).toEqual([true, true]);
  expect(await Promise.all(answers)).toEqual(['b', 'b']);
});

test('link: the reply to what was sent before the hold passes', async () => {
  const [link, watcher] = [await open(redis.url()), redis.connect()];
  const client = await connect(link.url);
  const popped = client.blpop(redis.key(), 0);
  await expect.poll(() => watcher.info('clients')).toContain('blocked_clients:1');
  const held = link.holdNextReply('BLPOP');

  await watcher.lpush(redis.key(), 'a', 'b');
  expect(await popped).toEqual([redis.key(), 'b']);
  const next = client.blpop(redis.key(), 0);
  await held.arrived;
  held.letGo();

  expect(await next).toEqual([redis.key(), 'a']);
});

test.each(['FIN', 'reset'])('link: a client that hangs up while its reply is held is gone (%s)', async (how) => {
  const [link, watcher] = [await open(redis.url()), redis.connect()];
  const client = await connectRaw(link.port);
  const held = link.holdNextReply('INCR');
  client.socket.write(encode('INCR', redis.key()));
  await held.arrived;
  const wasGone = held.isGone();

  if (how === 'FIN') client.socket.end();
  else client.socket.resetAndDestroy();
  await expect.poll(() => held.isGone()).toBe(true);
  held.letGo();

  expect(wasGone).toBe(false);
  expect(await watcher.getdel(redis.key())).toBe('1');
  await expect.poll(() => link.counters.open).toBe(0);
});

/** A second Redis, and a connection to a database of it. */
async function elsewhere(db: number) {
  const temp = makeTempDir();
  onTestFinished(temp.remove);
  const second = await openRedis(undefined, { dir: temp.dir });
  onTestFinished(() => second.part?.stop());
  return { second, there: await connect(second.url, { db }) };
}

test('link: whoever waits for a held reply is led on to another Redis, and introduces itself there; others are ended', async () => {
  const { second, there } = await elsewhere(3);
  await there.set('stock', 'there');
  await there.config('SET', 'requirepass', 'open');
  const link = await open(redis.url());
  const [client, other] = [await connectRaw(link.port), await connectRaw(link.port)];
  const held = link.holdNextReply('GET');
  const seen: string[] = [];
  link.watchReplies((exchange) => seen.push(told(exchange)));

  // Nobody asks for a password here: that is an error, and it is said all the same.
  client.socket.write(Buffer.concat([encode('AUTH', 'open'), encode('SELECT', '3'), encode('GET', 'stock')]));
  await held.arrived;
  await expect.poll(() => String(client.received())).toContain('+OK');
  const before = String(client.received());
  link.moveTo(second.url);
  const othersEnd = await other.ended;
  client.socket.write(encode('GET', 'stock'));
  await expect.poll(() => seen.length).toBe(4);
  held.letGo();
  await client.untilReceived(before.length + '$-1\r\n$5\r\nthere\r\n'.length);

  expect(before).toMatch(/^-ERR [^\r]+\r\n\+OK\r\n$/);
  expect(String(client.received())).toBe(`${before}$-1\r\n$5\r\nthere\r\n`);
  expect(othersEnd).toBe('reset');
  expect(seen.slice(2)).toEqual(['GET stock → nil', 'GET stock → there']);
  expect(link.leadsTo()).toBe(second.url);
});

test.each([
  ['is refused when another has written there', ['WATCH stock'], null],
  ['is done when it watches no longer', ['WATCH stock', 'UNWATCH'], ['OK']],
])('link: a transaction that is led on to another Redis %s', async (_what, begun, end) => {
  const { second, there } = await elsewhere(0);
  const link = await open(redis.url());
  const client = await connect(link.url);
  for (const command of begun) await client.call(...(command.split(' ') as [string]));
  const held = link.holdNextReply('GET');
  const reading = client.get('stock');
  await held.arrived;

  const again: string[] = [];
  await there.monitor().then((monitor) => {
    monitor.on('monitor', (_time: string, [name = '']: string[]) => again.push(name.toUpperCase()));
    onTestFinished(() => monitor.disconnect());
  });
  link.moveTo(second.url);
  if (end === null) await expect.poll(() => again).toContain('WATCH');
  await there.set('stock', '8');
  held.letGo();
  await reading;

  const ended = await client.multi().set('stock', '9').exec();
  expect(ended?.map(([, text]) => text) ?? null).toEqual(end);
});

test.each(['2', '3'])('link: what a subscriber hears passes, and is no reply (RESP%s)', async (version) => {
  const [link, watcher] = [await open(redis.url()), redis.connect()];
  const [subscriber, other] = [await connectRaw(link.port), await connect(link.url)];
  const seen: string[] = [];
  link.watchReplies((exchange) => seen.push(told(exchange)));

  subscriber.socket.write(Buffer.concat([encode('HELLO', version), encode('SUBSCRIBE', 'news')]));
  await expect.poll(() => String(subscriber.received())).toContain('subscribe');
  await watcher.publish('news', 'a');
  await watcher.publish('news', 'b');
  await expect.poll(() => String(subscriber.received()).match(/\$[17]\r\n(message|[ab])\r\n/g)).toHaveLength(4);
  await other.echo('c');

  expect(seen.filter((line) => !line.startsWith('HELLO'))).toEqual(['ECHO c → c']);
});
