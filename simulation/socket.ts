// A socket of a simulated process: as much of node:net as Redis clients use, with the same events in the same order.

import { constants } from 'node:os';
import { Duplex } from 'node:stream';

/** What a socket receives: the server's bytes and the end of the connection in order, a reset at once. */
export interface Ears {
  hear(bytes: Buffer): void;
  hasEnded(): void;
  isReset(): void;
}

/** What a socket can do on its connection. */
export interface SocketLine {
  say(bytes: Buffer): void;
  /** It says nothing more, and still hears. */
  sayNoMore(): void;
  leave(): void;
}

export interface SocketTimers {
  setTimeout(run: () => void, ms: number): unknown;
  clearTimeout(timer: unknown): void;
}

export interface SocketOptions {
  port: number;
  /** It may still speak when the server has ended. */
  allowHalfOpen: boolean;
  /** Undefined when nobody listens there. */
  connect(ears: Ears): SocketLine | undefined;
  /** Does this when it has come to the server. */
  arrive(run: () => void): void;
  timers: SocketTimers;
}

const ADDRESS = '127.0.0.1';

/** An error of the system, as node:net has it. */
const systemError = (code: 'ECONNREFUSED' | 'ECONNRESET', call: string, where = '', place = {}) =>
  Object.assign(new Error(`${call} ${code}${where}`), { errno: -constants.errno[code], code, syscall: call, ...place });

export function createSocket({ port, allowHalfOpen, connect, arrive, timers }: SocketOptions): Duplex {
  let line: SocketLine | undefined;
  let timer: unknown;
  let limitMs = 0;

  const socket: Duplex = new Duplex({
    allowHalfOpen,
    // It says with it whether there was an error.
    emitClose: false,
    construct: (done) =>
      arrive(() => {
        if (!socket.destroyed) line = connect({ hear, hasEnded, isReset });
        done();
        if (!socket.destroyed) tellOfConnection();
      }),
    read() {},
    write(chunk: Buffer, _encoding, done) {
      touch();
      try {
        line?.say(chunk);
        done();
      } catch (error) {
        done(error as Error);
      }
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

  function tellOfConnection() {
    Object.assign(socket, { connecting: false });
    if (line === undefined) {
      const place = { address: ADDRESS, port };
      return void socket.destroy(systemError('ECONNREFUSED', 'connect', ` ${ADDRESS}:${port}`, place));
    }
    socket.emit('connect');
    socket.emit('ready');
  }
  function hear(bytes: Buffer) {
    touch();
    socket.push(bytes);
  }
  function hasEnded() {
    socket.push(null);
    // Who reads nothing hears of the end, too.
    socket.read(0);
  }
  const isReset = () => void socket.destroy(systemError('ECONNRESET', 'read'));

  /** Something passes: from here on the socket is idle. */
  function touch() {
    timers.clearTimeout(timer);
    if (limitMs > 0) timer = timers.setTimeout(() => socket.emit('timeout'), limitMs);
  }

  const own = {
    connecting: true,
    remoteAddress: ADDRESS,
    remotePort: port,
    localAddress: ADDRESS,
    setNoDelay: () => socket,
    setKeepAlive: () => socket,
    ref: () => socket,
    unref: () => socket,
    setTimeout(ms: number, onTimeout?: () => void) {
      limitMs = ms;
      touch();
      if (onTimeout && ms > 0) socket.once('timeout', onTimeout);
      return socket;
    },
    destroySoon() {
      if (socket.writable) socket.end();
      if (socket.writableFinished) socket.destroy();
      else socket.once('finish', () => socket.destroy());
    },
    resetAndDestroy() {
      if (this.connecting) socket.once('connect', () => socket.destroy());
      else socket.destroy();
      return socket;
    },
  };
  return Object.assign(socket, own);
}
