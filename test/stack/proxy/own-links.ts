import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Redis, type RedisOptions } from 'ioredis';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { openLink, openReplyLink } from '../../../stack/proxy/link.ts';
import { type SharedRedis, sharedRedis } from '../../own-stack.ts';

/** The Redis of this worker, for one file. It must be empty when the tests have ended. */
export function linkedRedis() {
  const clients: Redis[] = [];
  let redis: SharedRedis;

  beforeAll(async () => {
    redis = await sharedRedis();
  });

  afterAll(async () => {
    const keysLeft = await redis.client.keys('*');
    for (const client of clients) client.disconnect();
    expect(keysLeft).toEqual([]);
  });

  return {
    url: () => redis.url,
    /** A new connection, closed after the last test. */
    connect(): Redis {
      const client = new Redis(redis.url);
      clients.push(client);
      return client;
    },
    key: () => String(expect.getState().currentTestName),
  };
}

/** Links, clients and servers for one test, closed after it. */
export function ownLinks() {
  const closings: (() => unknown)[] = [];

  afterEach(async () => {
    for (const close of closings.splice(0).toReversed()) await close();
  });

  const opensBy =
    <Opened extends { close(): unknown }>(openIt: (url: string) => Promise<Opened>) =>
    async (url: string): Promise<Opened> => {
      const link = await openIt(url);
      closings.push(() => link.close());
      return link;
    };

  return {
    open: opensBy(openLink),
    openReading: opensBy(openReplyLink),

    /** A client that is connected, and stays away once it is closed. */
    async connect(url: string, options: RedisOptions = {}): Promise<Redis> {
      const client = new Redis(url, { retryStrategy: () => null, ...options });
      client.on('error', () => {});
      closings.push(() => client.disconnect());
      await seen(client, 'ready');
      return client;
    },

    /** A connection of bytes; a reset may have ended it already. */
    async connectRaw(port: number) {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
      closings.push(() => socket.destroy());
      const collected = collect(socket);
      await Promise.race([seen(socket, 'connect'), seen(socket, 'close')]);
      return { socket, ...collected };
    },

    /** A server that takes whatever it is sent, and answers nothing. */
    async listen() {
      const arrivals: (ReturnType<typeof collect> & { socket: Socket })[] = [];
      const server = createServer({ allowHalfOpen: true }, (socket) => {
        arrivals.push({ socket, ...collect(socket) });
        socket.on('end', () => socket.end());
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      closings.push(() => {
        for (const { socket } of arrivals) socket.destroy();
        server.close();
      });
      return { arrivals, server, url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}` };
    },
  };
}

/** Resolves when the event has come, whatever errors come before. */
export function seen(emitter: Redis | Socket, event: string): Promise<void> {
  return new Promise((resolve) => (emitter as Socket).once(event, () => resolve()));
}

/** What a socket receives. */
function collect(socket: Socket) {
  const chunks: Buffer[] = [];
  let length = 0;
  let check = () => {};
  const ended = new Promise<'end' | 'reset'>((resolve) => {
    socket.once('end', () => resolve('end'));
    socket.once('error', () => resolve('reset'));
  });
  socket.on('data', (chunk) => {
    chunks.push(chunk);
    length += chunk.length;
    check();
  });
  return {
    received: () => Buffer.concat(chunks),
    receivedLength: () => length,
    /** Resolves when so many bytes have come in all. */
    untilReceived: (bytes: number) =>
      new Promise<void>((resolve) => {
        check = () => length >= bytes && resolve();
        check();
      }),
    ended,
  };
}

/** A command as clients send it. */
export function encode(...args: (string | Uint8Array)[]): Buffer {
  const parts = args.map((arg) => Buffer.from(arg as Uint8Array));
  const encoded = parts.flatMap((part) => [Buffer.from(`$${part.length}\r\n`), part, Buffer.from('\r\n')]);
  return Buffer.concat([Buffer.from(`*${parts.length}\r\n`), ...encoded]);
}

/** Cuts bytes where a chunk of each of these lengths ends, over and over. */
export function split(bytes: Buffer, lengths: number[]): Buffer[] {
  const chunks = [];
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const length = lengths[turn % lengths.length] ?? bytes.length;
    chunks.push(bytes.subarray(at, at + length));
    at += length;
  }
  return chunks;
}

/** Whether a promise has no outcome yet. */
export function isPending(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol();
  return Promise.race([promise, pending]).then(
    (outcome) => outcome === pending,
    () => false,
  );
}

/** Time enough for what must not happen, in turns of this process and of Redis. */
export async function someTurns(client: Redis) {
  for (let turn = 0; turn < 10; turn += 1) await client.ping();
}
