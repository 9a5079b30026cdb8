// The network of a simulated process: Redis clients that use node:net run on it unchanged.
//
//         the bytes cross                     the server carries them out
//   socket ────────────────────► proxy ────────────────────► server
//        ◄──────────────────── delays ◄────────────────────
//         the process reads the answer

import type { Message, Tell } from './events.ts';
import type { VirtualProxy } from './proxy.ts';
import { NotACommand, readCommands } from './resp.ts';
import type { Schedule } from './schedule.ts';
import { asRead, readableOf } from './scripts.ts';
import { createSocket, type Ears, type SocketLine, type SocketTimers } from './socket.ts';
import { type NearEnd, openWay, type Sender } from './way.ts';

/** The server at this port is the first that a process reaches; the next one is at the next port. */
export const FIRST_PORT = 6_379;

export interface SocketsOptions {
  schedule: Schedule;
  /** What the process reaches its servers through, in their order. */
  proxies: VirtualProxy[];
  /** The process that opens the sockets. */
  node: NearEnd;
  timers: SocketTimers;
  tell: Tell;
  /** The sale that sends a command, and what says that one is at work again: its answer has come. */
  /** Notes that the process has used what the simulation does not have, and throws. */
  refuse(what: string): never;
  sales: { in(command: string[]): string | undefined; resume(sale: string | undefined): void };
}

/** Where a socket leads to. */
interface Where {
  port?: number | string;
  path?: string;
  allowHalfOpen?: boolean;
}

/** What a client asks of each new connection: the answers differ from run to run. */
const handshake = /^(CLIENT|HELLO|INFO)$/i;

/** A message of a channel answers no command. */
const isOfChannel = (bytes: Buffer) => /^\*[34]\r\n\$\d\r\n(p?message)\r\n/.test(bytes.toString('latin1', 0, 24));

function commandOf(args: Buffer[]): [string, ...string[]] {
  const [name = '', ...rest] = args.map((arg) => arg.toString('latin1'));
  return [name.toUpperCase(), ...rest];
}

/** The sockets of a process, and what node:net exports for them. */
export function openSockets({ schedule, proxies, node, timers, tell, sales, refuse }: SocketsOptions) {
  /** What lets go of each connection that is open. */
  const leaving = new Set<() => void>();
  let lastId = 0;

  /** Opens the way to a server. */
  function openLine(proxy: VirtualProxy, ears: Ears): SocketLine {
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
      const command = commandOf(args);
      const message = messageOf(command, proxies.indexOf(proxy));
      const isTold = !handshake.test(command[0]);
      if (isTold) tell({ kind: 'command', ...message });
      way.send(sender, {
        read: asRead(command),
        message,
        arrive() {
          server.receive(() => {
            unanswered.push({ message, isTold });
            const returned = server.exchange(number, command, bytes);
            if (isTold && returned !== undefined) tell({ kind: 'done', ...message, returned });
          });
          return !server.isDead();
        },
        drop: reset,
      });
    });
    return { say: (bytes) => readOrRefuse(read, bytes), sayNoMore, leave };
  }

  function messageOf(command: string[], server: number): Message {
    lastId += 1;
    return { node: node.name, id: lastId, sale: sales.in(command), server, ...readableOf(command) };
  }

  function readOrRefuse(read: (bytes: Buffer) => void, bytes: Buffer) {
    try {
      read(bytes);
    } catch (error) {
      if (error instanceof NotACommand) refuse('a socket that sends anything but arrays of bulk strings');
      throw error;
    }
  }

  function createConnection(where: number | string | Where, ...more: unknown[]) {
    const { port, path, allowHalfOpen = false }: Where = typeof where === 'object' ? where : { port: where };
    if (path !== undefined || Number.isNaN(Number(port))) refuse('a socket of the file system');
    const proxy = proxies[Number(port) - FIRST_PORT];
    const socket = createSocket({
      port: Number(port),
      allowHalfOpen,
      // As the proxy of a real line does, which takes a connection before it knows whether the server is there.
      connect: (ears) => (proxy?.takes() ? openLine(proxy, ears) : undefined),
      arrive: (run) => schedule.after(node.busyMs() + node.oneWayMs, () => node.take(run)),
      timers,
    });
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
