// The network of a virtual process: what speaks to Redis over node:net runs on it as it is.
//
//         the bytes cross                     the server carries them out
//   socket ────────────────────► proxy ────────────────────► server
//        ◄──────────────────── delays ◄────────────────────
//         the process reads the answer

import { constants } from 'node:os';
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

/** Where a socket leads to. */
interface Where {
  port?: number | string;
  allowHalfOpen?: boolean;
}

/** What a client asks of each new connection: the answers differ from run to run. */
const handshake = /^(CLIENT|HELLO|INFO)$/i;

/** A message of a channel answers no command. */
const isOfChannel = (bytes: Buffer) => /^\*[34]\r\n\$\d\r\n(p?message)\r\n/.test(bytes.toString('latin1', 0, 24));

/** An error of the system, as node:net has it. */
const systemError = (code: string, call: string, more: object = {}, where = '') =>
  Object.assign(new Error(`${call} ${code}${where}`), {
    errno: -constants.errno[code as 'ECONNRESET'],
    code,
    syscall: call,
    ...more,
  });

/** The sockets of a process, and what node:net exports for them. */
export function openSockets({ schedule, proxies, node, timers, tell, sales }: SocketsOptions) {
  /** What lets go of each connection that is open. */
  const leaving = new Set<() => void>();
  let lastId = 0;

  /**
   * Opens the way to a server. It `hears` what that says, and that it `hasEnded` the connection, both in their order; that the connection
   * `isReset` it hears at once.
   */
  function openLine(proxy: VirtualProxy, ears: { hear(bytes: Buffer): void; hasEnded(): void; isReset(): void }) {
    const server = proxy.server();
    const comeBack = (what: () => void) => way.comeBack(() => isOver || what());
    const number = server.open({
      hear: (bytes) => comeBack(() => comeTo(bytes)),
      isLeft: end,
    });
    const way = openWay({ schedule, proxy, node, tell });
    /** The commands that are not answered, the oldest first. */
    const unanswered: { message: Message; isTold: boolean }[] = [];
    const sender: Sender = [];
    let hasSaidAll = false;
    let isOver = false;
    const client = { lose: (_why: string, how: 'end' | 'reset') => (how === 'end' ? end() : reset()) };
    const leaveProxy = proxy.connect(client, 1);
    const leaveServer = server.connect(client);

    /** What the process does from here on is the work of the sale that has waited for this answer. */
    function comeTo(bytes: Buffer) {
      const answered = isOfChannel(bytes) ? undefined : unanswered.shift();
      if (answered?.isTold) tell({ kind: 'reply', ...answered.message });
      sales.resume(answered?.message.sale);
      ears.hear(bytes);
    }

    /** The process says nothing more. The server answers what was said before, and then ends the connection, too. */
    function sayNoMore() {
      if (hasSaidAll) return;
      hasSaidAll = true;
      way.end(sender, () => {
        server.receive(() => {
          server.disconnect(number);
          end();
        });
        return !server.isDead();
      });
    }

    function leave() {
      isOver = true;
      leaving.delete(leave);
      leaveProxy();
      leaveServer();
      sayNoMore();
    }
    leaving.add(leave);

    function end() {
      comeBack(() => {
        leave();
        ears.hasEnded();
      });
    }

    function reset() {
      if (isOver) return;
      leave();
      node.take(ears.isReset);
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
        drop: reset,
      });
    });
    return { read, sayNoMore, leave };
  }

  /** A socket to the server at a port. It is refused when nobody listens there. */
  function connect(port: number, allowHalfOpen: boolean): Duplex {
    let line: ReturnType<typeof openLine> | undefined;
    const proxy = proxies[port - FIRST_PORT];
    const address = '127.0.0.1';
    const socket: Duplex = new Duplex({
      allowHalfOpen,
      // It says with it whether there was an error.
      emitClose: false,
      construct(done) {
        schedule.after(node.busyMs() + node.oneWayMs, () =>
          node.take(() => {
            if (socket.destroyed) return done();
            Object.assign(socket, { connecting: false });
            // As the proxy of a real line does, which takes a connection before it knows whether the server is there.
            if (proxy?.takes()) line = openLine(proxy, ears);
            done();
            if (line === undefined) {
              return void socket.destroy(
                systemError('ECONNREFUSED', 'connect', { address, port }, ` ${address}:${port}`),
              );
            }
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
        line?.sayNoMore();
        done();
      },
      destroy(error, done) {
        Object.assign(socket, { connecting: false });
        timers.clearTimeout(timer);
        line?.leave();
        done(error);
        process.nextTick(() => socket.emit('close', error !== null));
      },
    });
    const ears = {
      hear(bytes: Buffer) {
        touch();
        socket.push(bytes);
      },
      hasEnded() {
        socket.push(null);
        // Who reads nothing hears of the end, too.
        socket.read(0);
      },
      isReset: () => void socket.destroy(systemError('ECONNRESET', 'read')),
    };
    function destroySoon() {
      if (socket.writable) socket.end();
      if (socket.writableFinished) socket.destroy();
      else socket.once('finish', () => socket.destroy());
    }

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
      remoteAddress: address,
      remotePort: port,
      localAddress: address,
      setNoDelay: self,
      setKeepAlive: self,
      ref: self,
      unref: self,
      setTimeout(ms: number, onTimeout?: () => void) {
        limitMs = ms;
        touch();
        if (onTimeout && ms > 0) socket.once('timeout', onTimeout);
        return socket;
      },
      destroySoon,
      resetAndDestroy() {
        if (this.connecting) socket.once('connect', () => socket.destroy());
        else socket.destroy();
        return socket;
      },
    });
  }

  function createConnection(where: number | string | Where, ...more: unknown[]) {
    const { port, allowHalfOpen = false } = typeof where === 'object' ? where : { port: where };
    const socket = connect(Number(port), allowHalfOpen);
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
