import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Redis, type RedisOptions } from 'ioredis';
import { afterEach, expect } from 'vitest';
import { type Link, openLink } from '../../../scripts/link/link.ts';

/** Links, clients and servers for one test, closed after it. */
export function ownLinks() {
  const closings: (() => unknown)[] = [];

  afterEach(async () => {
    for (const close of closings.splice(0).toReversed()) await close();
  });

  return {
    async open(redisUrl: string): Promise<Link> {
      const link = await openLink(redisUrl);
      closings.push(() => link.close());
      return link;
    },

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
