// What clients of Redis do, one scene each. It runs on real sockets and, bundled, in the simulation. Each tells what it has met, in order: of
// one connection, because two have no order.

import type { EventEmitter } from 'node:events';
import { createConnection, type NetConnectOpts, type Socket } from 'node:net';
import { Redis, type RedisOptions } from 'ioredis';

export interface Stage {
  port: number;
  /** Where nobody listens. */
  closedPort: number;
  /** Resets every connection, and takes new ones again. */
  reset(): void;
}

/** Resolves at an event; an error before it is another event. */
const once = (emitter: EventEmitter, event: string) =>
  new Promise<void>((resolve) => emitter.once(event, () => resolve()));

type Say = (what: string) => void;

const bulk = (args: string[]) =>
  `*${args.length}\r\n${args.map((arg) => `$${Buffer.byteLength(arg)}\r\n${arg}\r\n`).join('')}`;

/** A client that says what happens to it, and how each of its commands ends. */
function ownClient(port: number, say: Say, name: string, options: RedisOptions = {}) {
  return told(new Redis({ port, retryStrategy: () => 20, ...options }), say, name);
}

function told(client: Redis, say: Say, name: string) {
  for (const event of ['connect', 'ready', 'close', 'reconnecting', 'end'])
    client.on(event, () => say(`${name} ${event}`));
  client.on('error', ({ code, syscall, message }: NodeJS.ErrnoException) =>
    say(`${name} error ${code ?? message} ${syscall}`),
  );
  client.on('message', (channel, message) => say(`${name} message ${channel} ${message}`));
  return client;
}

/** Says how a command ends. Never rejects. */
async function end(say: Say, name: string, reply: Promise<unknown>) {
  await reply.then(
    (value) => say(`${name}: ${JSON.stringify(value)}`),
    (error: Error) => say(`${name} rejects: ${error.message}`),
  );
}

/** A socket that says what happens to it. */
function ownSocket(options: NetConnectOpts, say: Say): Socket {
  const socket = createConnection(options);
  for (const event of ['connect', 'ready', 'end']) socket.on(event, () => say(event));
  socket.on('data', (bytes) => say(`data ${JSON.stringify(String(bytes))}`));
  socket.on('error', ({ code, syscall, message }: NodeJS.ErrnoException) =>
    say(`error ${code ?? message} ${syscall} ${socket.destroyed}`),
  );
  socket.on('close', (hadError) => say(`close ${hadError} ${socket.destroyed} ${socket.connecting}`));
  return socket;
}

/** Resolves when the server has so many clients that wait in a blocking command. */
export async function blocked(other: Redis, count: number) {
  while (!(await other.info('clients')).includes(`blocked_clients:${count}`));
}

export const scenes: Record<string, (stage: Stage, say: Say) => Promise<unknown>> = {
  async 'a client connects, and quits'({ port }, say) {
    const client = ownClient(port, say, 'client');
    say(client.status);
    const ended = once(client, 'end');
    await end(say, 'set', client.set('key', 'value'));
    await Promise.all([end(say, 'get', client.get('key')), end(say, 'quit', client.quit())]);
    await ended;
    await end(say, 'after the end', client.get('key'));
  },

  async 'a client is disconnected while commands of it wait'({ port }, say) {
    const client = ownClient(port, say, 'client');
    await once(client, 'ready');
    const ended = once(client, 'end');
    const ends = [end(say, 'blpop', client.blpop('list', 0)), end(say, 'get behind it', client.get('key'))];
    client.disconnect();
    say(client.status);
    await end(say, 'after disconnect', client.get('key'));
    await Promise.all([ended, ...ends]);
  },

  async 'a client is disconnected before it is connected'({ port }, say) {
    const client = ownClient(port, say, 'client', { lazyConnect: true });
    const connected = end(say, 'connect', client.connect());
    const got = end(say, 'get', client.get('key'));
    const ended = once(client, 'end');
    client.disconnect();
    await Promise.all([connected, got, ended]);
  },

  async 'a client is disconnected at "connect"'({ port }, say) {
    const client = ownClient(port, say, 'client');
    client.on('connect', () => client.disconnect());
    await Promise.all([once(client, 'end'), end(say, 'get', client.get('key'))]);
  },

  async 'a client disconnects to connect again'({ port }, say) {
    const client = ownClient(port, say, 'client');
    await end(say, 'get', client.get('nothing'));
    const again = once(client, 'ready');
    client.disconnect(true);
    await again;
    await end(say, 'get', client.get('nothing'));
    await end(say, 'quit', client.quit());
    await once(client, 'end');
  },

  async 'a reset connection: a blocking command is sent again'({ port, reset }, say) {
    const [client, other] = [ownClient(port, say, 'client', { maxRetriesPerRequest: null }), new Redis({ port })];
    await once(client, 'ready');
    const popped = end(say, 'blpop', client.blpop('again', 0));
    await blocked(other, 1);
    other.disconnect();
    reset();
    await once(client, 'ready');
    await ownPush(port, 'again', 'x');
    await popped;
    client.disconnect();
    await once(client, 'end');
  },

  async 'a reset connection: a command rejects after so many tries'({ port, reset }, say) {
    const client = ownClient(port, say, 'client', { maxRetriesPerRequest: 0 });
    const other = new Redis({ port });
    await once(client, 'ready');
    const popped = end(say, 'blpop', client.blpop('never', 0));
    await blocked(other, 1);
    other.disconnect();
    reset();
    await popped;
    await once(client, 'ready');
    client.disconnect();
    await once(client, 'end');
  },

  async 'the server ends the connection of a client'({ port }, say) {
    const [client, other] = [ownClient(port, say, 'client', { maxRetriesPerRequest: 0 }), new Redis({ port })];
    await once(client, 'ready');
    const id = await client.client('ID');
    const popped = end(say, 'blpop', client.blpop('never', 0));
    await blocked(other, 1);
    const again = once(client, 'ready');
    await other.client('KILL', 'ID', id as never);
    await Promise.all([popped, again]);
    for (const each of [client, other]) each.disconnect();
    await once(client, 'end');
  },

  async 'commands behind one that blocks'({ port }, say) {
    const [client, other] = [ownClient(port, say, 'client'), new Redis({ port })];
    const ends = [
      end(say, 'blpop', client.blpop('line', 0)),
      end(say, 'set', client.set('behind', '1')),
      end(say, 'multi', client.multi().get('behind').incr('behind').exec()),
      end(say, 'quit', client.quit()),
    ];
    await blocked(other, 1);
    await end(say, 'behind', other.get('behind'));
    await other.lpush('line', 'y');
    await Promise.all([...ends, once(client, 'end')]);
    await end(say, 'behind', other.get('behind'));
    await end(say, 'a blpop whose time is over', other.blpop('line', 0.01));
    other.disconnect();
  },

  async 'a transaction whose key is changed by another'({ port }, say) {
    const [client, other] = [ownClient(port, say, 'client'), new Redis({ port })];
    await client.watch('watched');
    await other.set('watched', 'changed');
    await end(say, 'exec', client.multi().get('watched').exec());
    await end(say, 'exec', client.multi().get('watched').exec());
    for (const each of [client, other]) each.disconnect();
    await once(client, 'end');
  },

  async 'a duplicate listens, before a reset and after it'({ port, reset }, say) {
    const client = new Redis({ port });
    client.on('error', () => {});
    const listener = told(client.duplicate({ retryStrategy: () => 20 }), say, 'listener');
    await end(say, 'subscribe', listener.subscribe('news'));
    await end(say, 'get', listener.get('key'));
    const heard = once(listener, 'message');
    await client.publish('news', '1');
    await heard;
    const again = once(listener, 'ready');
    reset();
    await again;
    while ((await client.publish('news', '2').catch(() => 0)) === 0);
    await end(say, 'unsubscribe', listener.unsubscribe('news'));
    await end(say, 'get', listener.get('nothing'));
    for (const each of [client, listener]) each.disconnect();
    await once(listener, 'end');
  },

  async 'nobody listens: a client'({ closedPort }, say) {
    const client = ownClient(closedPort, say, 'client', { maxRetriesPerRequest: 1 });
    await end(say, 'get', client.get('key'));
    const ended = once(client, 'end');
    client.disconnect();
    say(client.status);
    client.connect().catch(({ message }) => say(message));
    client.disconnect();
    await ended;
  },

  async 'nobody listens: a socket'({ closedPort }, say) {
    await once(ownSocket({ port: closedPort }, say), 'close');
  },

  async 'a socket says all, and hears the answers'({ port }, say) {
    const socket = ownSocket({ port }, say);
    socket.end(bulk(['ECHO', 'last']));
    await once(socket, 'close');
  },

  async 'a socket that may be half open is ended by the server alone'({ port }, say) {
    const socket = ownSocket({ port, allowHalfOpen: true }, say);
    socket.write(bulk(['QUIT']));
    await once(socket, 'end');
    say(`writable ${socket.writable}`);
    socket.end();
    await once(socket, 'close');
  },

  async 'a socket that the server ends'({ port }, say) {
    const socket = ownSocket({ port }, say);
    socket.write(bulk(['QUIT']));
    await once(socket, 'close');
  },

  async 'a socket is reset'({ port, reset }, say) {
    const socket = ownSocket({ port }, say);
    socket.write(bulk(['ECHO', 'here']));
    await once(socket, 'data');
    const closed = once(socket, 'close');
    reset();
    await closed;
  },

  async 'a socket resets its connection'({ port }, say) {
    const socket = ownSocket({ port }, say);
    await once(socket, 'connect');
    socket.resetAndDestroy();
    await once(socket, 'close');
  },

  async 'a socket is destroyed, by an error'({ port }, say) {
    const socket = ownSocket({ port }, say);
    await once(socket, 'connect');
    socket.write(bulk(['BLPOP', 'never', '0']));
    socket.destroy(new Error('enough'));
    await once(socket, 'close');
  },

  async 'a socket is destroyed before it is connected'({ port }, say) {
    const socket = ownSocket({ port }, say);
    socket.destroy();
    await once(socket, 'close');
  },

  async 'a socket is destroyed soon'({ port }, say) {
    const socket = ownSocket({ port }, say);
    await once(socket, 'connect');
    socket.write(bulk(['BLPOP', 'never', '0']));
    socket.destroySoon();
    await once(socket, 'close');
  },

  async 'a socket that is idle says so'({ port }, say) {
    const socket = ownSocket({ port }, say);
    await once(socket, 'connect');
    socket.setTimeout(5, () => say('timeout'));
    await once(socket, 'timeout');
    socket.setTimeout(0);
    socket.destroy();
    await once(socket, 'close');
  },
};

async function ownPush(port: number, list: string, value: string) {
  const client = new Redis({ port });
  await client.lpush(list, value);
  client.disconnect();
}
