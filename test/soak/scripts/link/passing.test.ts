import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { encode, ownLinks, split } from '../../../scripts/link/own-links.ts';

const { open, connectRaw, listen } = ownLinks();

test('link: what Redis does not read stays with the client', async () => {
  const server = await listen();
  const link = await open(server.url);
  const client = await connectRaw(link.port);
  server.server.once('connection', (socket) => socket.pause());
  const command = encode('SET', 'k', Buffer.alloc(64 * 1024));
  const bytes = Buffer.concat(Array<Buffer>(1024).fill(command));

  const taken = await untilStill(pour(bytes, client.socket));
  await expect.poll(() => server.arrivals.length).toBe(1);
  const [arrival] = server.arrivals as [(typeof server.arrivals)[0]];
  arrival.socket.resume();
  await arrival.untilReceived(bytes.length);

  expect(taken).toBeLessThan(bytes.length / 2);
  expect(arrival.received().equals(bytes)).toBe(true);
});

test('link: what the client does not read stays with Redis', async () => {
  const server = await listen();
  const link = await open(server.url);
  const client = await connectRaw(link.port);
  client.socket.pause();
  await expect.poll(() => server.arrivals.length).toBe(1);
  const [{ socket }] = server.arrivals as [(typeof server.arrivals)[0]];
  const bytes = Buffer.alloc(64 * 1024 * 1024, 'reply');

  const taken = await untilStill(pour(bytes, socket));
  client.socket.resume();
  await client.untilReceived(bytes.length);

  expect(taken).toBeLessThan(bytes.length / 2);
  expect(client.received().equals(bytes)).toBe(true);
});

/** Writes as fast as the other side reads. Returns how to ask for the bytes written so far. */
function pour(bytes: Buffer, socket: Socket): () => number {
  let poured = 0;
  const source = Readable.from(split(bytes, [64 * 1024]));
  source.on('data', (chunk) => {
    poured += chunk.length;
  });
  source.pipe(socket, { end: false });
  return () => poured;
}

/** Resolves with the figure when it has not moved for 100 ms. */
async function untilStill(figure: () => number): Promise<number> {
  for (let last = figure(); ; last = figure()) {
    await sleep(100);
    if (figure() === last && last > 0) return last;
  }
}
