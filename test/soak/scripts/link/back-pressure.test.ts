// What waits in a link: as much as the sockets hold, and no more.

import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { encode, ownLinks, split } from '../../../scripts/link/own-links.ts';

const { open, connectRaw, listen } = ownLinks();

/** Writes as fast as the other side reads. Resolves with how much was taken when that has not moved for 100 ms. */
async function pour(bytes: Buffer, socket: Socket): Promise<number> {
  let poured = 0;
  const source = Readable.from(split(bytes, [64 * 1024]));
  source.on('data', (chunk) => {
    poured += chunk.length;
  });
  source.pipe(socket, { end: false });
  for (let last = poured; ; last = poured) {
    await sleep(100);
    if (poured === last && last > 0) return last;
  }
}

test.each(['Redis', 'the client'])('link: what %s does not read stays with the other', async (lazy) => {
  const server = await listen();
  const link = await open(server.url);
  const client = await connectRaw(link.port);
  await expect.poll(() => server.arrivals.length).toBe(1);
  const [arrival] = server.arrivals as [(typeof server.arrivals)[0]];
  const [reader, writer] = lazy === 'Redis' ? [arrival, client] : [client, arrival];
  reader.socket.pause();
  const bytes = Buffer.concat(Array<Buffer>(1024).fill(encode('SET', 'k', Buffer.alloc(64 * 1024))));

  const taken = await pour(bytes, writer.socket);
  reader.socket.resume();
  await reader.untilReceived(bytes.length);

  expect(taken).toBeLessThan(bytes.length / 2);
  expect(reader.received().equals(bytes)).toBe(true);
});
