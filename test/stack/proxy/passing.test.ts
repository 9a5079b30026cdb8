import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openLink } from '../../../stack/proxy/link.ts';
import { encode, linkedRedis, ownLinks, someTurns, split } from './own-links.ts';

const redis = linkedRedis();
const { open, connect, connectRaw, listen } = ownLinks();

const values = fc.array(fc.uint8Array({ maxLength: 400 }), { minLength: 1, maxLength: 20 });
const chunkLengths = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 6 });

test('link: random pipelines of any bytes, split anywhere, are answered as by Redis', async () => {
  const link = await open(redis.url());

  await fc.assert(
    fc.asyncProperty(values, chunkLengths, async (sent, lengths) => {
      const client = await connectRaw(link.port);
      const replies = Buffer.concat(sent.map((value) => encode(value).subarray('*1\r\n'.length)));

      for (const chunk of split(Buffer.concat(sent.map((value) => encode('ECHO', value))), lengths)) {
        client.socket.write(chunk);
      }
      await client.untilReceived(replies.length);

      expect(client.received().equals(replies)).toBe(true);
      client.socket.destroy();
    }),
    { seed: 1, numRuns: 20 },
  );
});

test('link: whatever is held and let go, the same bytes arrive in the same order', async () => {
  const server = await listen();
  const link = await open(server.url);

  await fc.assert(
    fc.asyncProperty(values, chunkLengths, fc.array(fc.nat()), async (sent, lengths, order) => {
      const client = await connectRaw(link.port);
      const holds = sent.map((_, at) => link.holdNext(at % 3 === 0 ? 'SET' : ({ name }) => name === 'DEL'));
      const names = ['SET', 'DEL', 'GET'];
      const bytes = Buffer.concat(sent.map((value, at) => encode(names[at % 3] as string, value)));

      for (const chunk of split(bytes, lengths)) client.socket.write(chunk);
      client.socket.end();
      for (const at of order) await holds.splice(at % (holds.length || 1), 1)[0]?.letGo();
      await Promise.all(holds.map((hold) => hold.letGo()));
      await client.ended;

      expect(server.arrivals.at(-1)?.received().equals(bytes)).toBe(true);
    }),
    { seed: 1, numRuns: 20 },
  );
});

test('link: what is no command ends its connection with an error, after the answers to what came before', async () => {
  const link = await open(redis.url());
  const [client, other] = [await connectRaw(link.port), await connect(link.url)];

  client.socket.write(Buffer.concat([encode('ECHO', 'a'), Buffer.from('PING\r\n'), encode('ECHO', 'b')]));
  const how = await client.ended;

  expect(how).toBe('end');
  expect(String(client.received())).toBe(
    '$1\r\na\r\n-ERR Protocol error: the fault proxy reads only arrays of bulk strings, and there is no * where it must be\r\n',
  );
  expect(await other.ping()).toBe('PONG');
  client.socket.end();
  await expect.poll(() => link.counters.open).toBe(1);
});

test('link: its url keeps user, password and database', async () => {
  const link = await open(`${redis.url().replace('//', '//default:secret@')}/5`);

  expect(link.url).toBe(`redis://default:secret@127.0.0.1:${link.port}/5`);
});

test('link: TLS is refused, since it cannot be read', async () => {
  await expect(openLink('rediss://127.0.0.1:6379')).rejects.toThrow('TLS');
});

test.each(['mysql', 'zookeeper'])(
  'link: to %s any bytes pass both ways, and none while the line is silent',
  async (kind) => {
    const server = await listen();
    const link = await open(server.url.replace('redis:', `${kind}:`));
    expect(link.url).toBe(`${kind}://127.0.0.1:${link.port}`);
    const client = await connectRaw(link.port);
    await expect.poll(() => server.arrivals.length).toBe(1);
    const arrival = server.arrivals[0] as (typeof server.arrivals)[number];
    // It speaks first, and neither side speaks like Redis.
    arrival.socket.write(Buffer.from([74, 0, 0, 0, 10]));
    await client.untilReceived(5);
    client.socket.write(Buffer.from([0, 255, 13, 10, 42]));
    await arrival.untilReceived(5);

    link.cut('silent');
    client.socket.write('late');
    arrival.socket.write('late');
    await someTurns(redis.connect());
    expect([client.receivedLength(), arrival.receivedLength()]).toEqual([5, 5]);

    link.restore();
    await Promise.all([client.untilReceived(9), arrival.untilReceived(9)]);
    expect(arrival.received()).toEqual(Buffer.from([0, 255, 13, 10, 42, ...Buffer.from('late')]));
    expect(client.received()).toEqual(Buffer.from([74, 0, 0, 0, 10, ...Buffer.from('late')]));
    expect(link.counters.commands.size).toBe(0);
  },
);
