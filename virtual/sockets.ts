// The network of a virtual process: what speaks to Redis over node:net runs on it as it is.
//
//         the bytes cross                     the server carries them out
//   socket ────────────────────► proxy ────────────────────► server
//        ◄──────────────────── delays ◄────────────────────
//         the process reads the answer

import { Duplex } from 'node:stream';
import { asRead, type VirtualProxy } from './proxy.ts';
import { readCommands } from './resp.ts';
import type { Schedule } from './schedule.ts';
import { verbOf } from './scripts.ts';

/** The server at this port is the first that a process reaches; the next one is at the next port. */
export const FIRST_PORT = 6_379;

export interface SocketsOptions {
  schedule: Schedule;
  /** What the process reaches its servers through, in their order. */
  proxies: VirtualProxy[];
  /** The process that opens the sockets. */
  node: {
    name: string;
    /** How long a packet takes between it and a server, in milliseconds. */
    oneWayMs: number;
    /** Something comes to it: `what` is called when its process can take it, and never when that is dead. */
    take(what: () => void): void;
    /** For how long nothing leaves it, in milliseconds, because its event loop is blocked. */
    busyMs(): number;
  };
  timers: { setTimeout(run: () => void, ms: number): unknown; clearTimeout(timer: unknown): void };
  say(text: string): void;
}

/** What a client asks of each new connection: the answers differ from run to run. */
const handshake = /^(CLIENT|HELLO|INFO)$/;

/** An error of the system, as node:net has it. */
const systemError = (code: string, call: string) =>
  Object.assign(new Error(`${call} ${code}`), { code, syscall: call });

/** The sockets of a process, and what node:net exports for them. */
export function openSockets({ schedule, proxies, node, timers, say }: SocketsOptions) {
  /** What lets go of each connection that is open. */
  const leaving = new Set<() => void>();

  /** Opens the way to a server, over which `hear` gets what it says, and `lose` that the connection is lost. */
  function openLine(proxy: VirtualProxy, hear: (bytes: Buffer) => void, lose: () => void) {
    const server = proxy.server();
    const number = server.open(hearLater);
    const master = proxies.indexOf(proxy) > 0 ? ` at master ${proxies.indexOf(proxy)}` : '';
    let isOver = false;
    /** What came behind a command that is held. */
    let behind: (() => void)[] | undefined;
    let lastSentAt = 0;
    let lastReplyAt = 0;
    const leaveProxy = proxy.connect({ lose: end }, 1);
    const leaveServer = server.connect({ lose: end });

    function leave() {
      isOver = true;
      leaving.delete(leave);
      leaveProxy();
      leaveServer();
      // What is on its way to the server arrives before the end does.
      const close = () => server.disconnect(number);
      if (behind) behind.push(close);
      else schedule.after(Math.max(0, lastSentAt - schedule.now()), close);
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
      schedule.after(node.busyMs(), () => proxy.pass(() => cross(command, bytes)));
    });

    /** A command is at the proxy. */
    function cross(command: string[], bytes: Buffer) {
      const seen = asRead(command);
      const verb = verbOf(command);
      const arrive = () => {
        server.receive(() => {
          const reply = server.exchange(number, command, bytes);
          if (!handshake.test(seen.name)) say(`${node.name} ${verb}${master} → ${JSON.stringify(reply)}`);
        });
        return !server.isDead();
      };
      proxy.see(seen);
      if (behind) return void behind.push(arrive);
      const hold = proxy.holdFor(seen);
      if (hold) return hold.arrive(seen, keep(verb, arrive));
      lastSentAt = Math.max(lastSentAt, schedule.later(node.oneWayMs));
      schedule.after(lastSentAt - schedule.now(), arrive);
    }

    /** The command stays at the proxy, and what the connection sends later with it. */
    function keep(verb: string, arrive: () => boolean) {
      const later: (() => void)[] = [];
      behind = later;
      say(`${node.name} ${verb} is held on its way`);
      const free = () => {
        if (behind === later) behind = undefined;
      };
      return {
        letGo() {
          say(`${node.name} ${verb} is let go`);
          free();
          const hasArrived = arrive();
          for (const each of later.splice(0)) each();
          return hasArrived;
        },
        drop() {
          free();
          later.length = 0;
          end();
        },
      };
    }

    function hearLater(bytes: Buffer) {
      proxy.pass(() => {
        lastReplyAt = Math.max(lastReplyAt, schedule.later(proxy.delayMs()));
        schedule.after(lastReplyAt - schedule.now(), () =>
          proxy.pass(() => schedule.after(node.oneWayMs, () => node.take(() => isOver || hear(bytes)))),
        );
      });
    }
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
