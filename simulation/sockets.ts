// The network of a virtual process: what speaks to Redis over node:net runs on it as it is.
//
//         the bytes cross                     the server carries them out
//   socket ────────────────────► proxy ────────────────────► server
//        ◄──────────────────── delays ◄────────────────────
//         the process reads the answer

import { Duplex } from 'node:stream';
import type { Message, Tell } from './events.ts';
import type { VirtualProxy } from './proxy.ts';
import { readCommands } from './resp.ts';
import type { Schedule } from './schedule.ts';
import { asRead, readableOf } from './scripts.ts';
import { type NearEnd, openWay, type Sender } from './way.ts';

/** The server at this port is the first that a process reaches; the next one is at the next port. */
export const FIRST_PORT = 6_379;

export interface SocketsOptions {
  schedule: Schedule;
  /** What the process reaches its servers through, in their order. */
  proxies: VirtualProxy[];
  /** The process that opens the sockets. */
  node: NearEnd;
  timers: { setTimeout(run: () => void, ms: number): unknown; clearTimeout(timer: unknown): void };
  tell: Tell;
  /** The sale that sends a command, and what says that one is at work again: its answer has come. */
  sales: { in(command: string[]): string | undefined; resume(sale: string | undefined): void };
}

/** What a client asks of each new connection: the answers differ from run to run. */
const handshake = /^(CLIENT|HELLO|INFO)$/i;

/** A message of a channel answers no command. */
const isOfChannel = (bytes: Buffer) => /^\*[34]\r\n\$\d\r\n(p?message)\r\n/.test(bytes.toString('latin1', 0, 24));

/** An error of the system, as node:net has it. */
const systemError = (code: string, call: string) =>
  Object.assign(new Error(`${call} ${code}`), { code, syscall: call });

/** The sockets of a process, and what node:net exports for them. */
export function openSockets({ schedule, proxies, node, timers, tell, sales }: SocketsOptions) {
  /** What lets go of each connection that is open. */
  const leaving = new Set<() => void>();
  let lastId = 0;

  /** Opens the way to a server, over which `hear` gets what it says, and `lose` that the connection is lost. */
  function openLine(proxy: VirtualProxy, hear: (bytes: Buffer) => void, lose: () => void) {
    const server = proxy.server();
    const number = server.open((bytes) => way.comeBack(() => isOver || comeTo(bytes)));
    const way = openWay({ schedule, proxy, node, tell });
    /** The commands that are not answered, the oldest first. */
    const unanswered: { message: Message; isTold: boolean }[] = [];
    const sender: Sender = {};
    let isOver = false;
    const leaveProxy = proxy.connect({ lose: end }, 1);
    const leaveServer = server.connect({ lose: end });

    /** What the process does from here on is the work of the sale that has waited for this answer. */
    function comeTo(bytes: Buffer) {
      const answered = isOfChannel(bytes) ? undefined : unanswered.shift();
      if (answered?.isTold) tell({ kind: 'reply', ...answered.message });
      sales.resume(answered?.message.sale);
      hear(bytes);
    }

    function leave() {
      isOver = true;
      leaving.delete(leave);
      leaveProxy();
      leaveServer();
      // What is on its way to the server arrives before the end does.
      way.afterAll(sender, () => server.disconnect(number));
    }
    leaving.add(leave);

    function end() {
      if (isOver) return;
      leave();
      node.take(lose);
    }

    const read = readCommands((args, bytes) => {
      const [name = '', ...rest] = args.map((arg) => arg.toString('latin1'));
      const command = [name.toUpperCase(), ...rest];
      lastId += 1;
      const at = { node: node.name, id: lastId, sale: sales.in(command), server: proxies.indexOf(proxy) };
      const message = { ...at, ...readableOf(command) };
      const isTold = !handshake.test(name);
      if (isTold) tell({ kind: 'command', ...message });
      way.send(sender, {
        read: asRead(command),
        message,
        arrive() {
          server.receive(() => {
            unanswered.push({ message, isTold });
            const returned = server.exchange(number, command, bytes);
            if (isTold) tell({ kind: 'done', ...message, returned });
          });
          return !server.isDead();
        },
        drop: end,
      });
    });
    return { read, leave };
  }

  /** A socket to the server at a port. It is refused when nobody listens there. */
  function connect(port: number): Duplex {
    let line: ReturnType<typeof openLine> | undefined;
    const proxy = proxies[port - FIRST_PORT];
    const socket: Duplex = new Duplex({
      allowHalfOpen: false,
      construct(done) {
        schedule.after(node.busyMs() + node.oneWayMs, () =>
          node.take(() => {
            // As the proxy of a real line does, which takes a connection before it knows whether the server is there.
            if (proxy?.takes()) line = openLine(proxy, hear, reset);
            done();
            if (line === undefined) return void socket.destroy(systemError('ECONNREFUSED', 'connect'));
            Object.assign(socket, { connecting: false });
            socket.emit('connect');
            socket.emit('ready');
          }),
        );
      },
      read() {},
      write(chunk: Buffer, _encoding, done) {
        touch();
        line?.read(chunk);
        done();
      },
      final(done) {
        line?.leave();
        done();
      },
      destroy(error, done) {
        timers.clearTimeout(timer);
        line?.leave();
        done(error);
      },
    });
    function hear(bytes: Buffer) {
      touch();
      socket.push(bytes);
    }
    const reset = () => void socket.destroy(systemError('ECONNRESET', 'read'));

    let timer: unknown;
    let limitMs = 0;
    /** Something passes: from here on the socket is idle. */
    function touch() {
      timers.clearTimeout(timer);
      if (limitMs > 0) timer = timers.setTimeout(() => socket.emit('timeout'), limitMs);
    }
    const self = () => socket;
    return Object.assign(socket, {
      connecting: true,
      remoteAddress: '127.0.0.1',
      remotePort: port,
      localAddress: '127.0.0.1',
      setNoDelay: self,
      setKeepAlive: self,
      ref: self,
      unref: self,
      setTimeout(ms: number, onTimeout?: () => void) {
        limitMs = ms;
        touch();
        if (onTimeout) socket.once('timeout', onTimeout);
        return socket;
      },
      destroySoon: () => socket.end(),
      resetAndDestroy: reset,
    });
  }

  function createConnection(where: number | string | { port?: number | string; path?: string }, ...more: unknown[]) {
    const port = Number(typeof where === 'object' ? where.port : where);
    const socket = connect(port);
    const onConnect = more.find((each) => typeof each === 'function') as (() => void) | undefined;
    return onConnect ? socket.once('connect', onConnect) : socket;
  }

  return {
    net: { createConnection, connect: createConnection },
    /** How many are open. */
    open: () => leaving.size,
    /** The process is dead. */
    close() {
      for (const leave of [...leaving]) leave();
    },
  };
}
