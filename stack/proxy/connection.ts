// Passes one client's commands to Redis, and the replies back.

import type { Socket } from 'node:net';
import type { Returned } from '../../simulation/events.ts';
import { NotACommand } from '../../simulation/resp.ts';
import type { Command } from './command.ts';
import type { Hold } from './hold.ts';
import type { Reply } from './replies.ts';

/** How many bytes of one connection the link keeps in each direction before it stops reading. */
const KEPT_LIMIT = 1024 * 1024;

/** The first byte of a TLS connection. https://www.rfc-editor.org/rfc/rfc8446#section-5.1 */
const TLS_HANDSHAKE = 22;

/** How what passes on one connection is read, in both directions, split anywhere. */
export interface Reading {
  /** What is no command, or is never answered, comes as bytes alone. What is returned may throw NotACommand. */
  readCommands(onCommand: (bytes: Buffer, command?: Command) => void): (chunk: Buffer) => void;
  readReplies(onReply: (reply: Reply) => void): (chunk: Buffer) => void;
  /** By these commands a client says who it is, and how it wants to be answered. */
  greetings: Set<string>;
}

/** The state that all connections of a fault proxy share. */
export interface Line {
  /** Begins to read a connection. Absent where what passes is carried byte by byte, and nothing of it can be held. */
  startReading?: (() => Reading) | undefined;
  isSilent: boolean;
  delayMs: number;
  /** The hold that means this command. Called once for each that comes. */
  takeHold(command: Command): Hold | undefined;
  /** A client has spoken TLS, which can't be read. */
  hasMetTls: boolean;
  /** Told of each reply that comes, and of what it answers. Absent where replies are not read. */
  meetReply?(exchange: Exchange): Hold<Exchange> | undefined;
  /** What Redis is asked right behind a command, before anything else that comes to it. The client learns nothing of it. */
  askBehind?: AskBehind | undefined;
}

/** Undefined where nothing is to be asked. */
export type AskBehind = (command: Command) => Asked | undefined;

export interface Asked {
  commands: string[][];
  /** Told of the command's own answer and, but within a transaction, of those behind it; the client may have gone by then. */
  hear(exchange: Exchange, behind: Returned[]): void;
}

/** A command that Redis has answered. The times are those of `performance.now()`. */
export interface Exchange {
  command: Command;
  sentAt: number;
  reply: Reply;
  at: number;
}

export type Connection = ReturnType<typeof carry>;

/** What a transaction watches until it ends. */
const unwatching = new Set(['EXEC', 'DISCARD', 'UNWATCH']);

/** A command on its way to Redis. */
interface Request {
  bytes: Buffer;
  isHeld: boolean;
  hold?: Hold;
  /** Absent of what can't be read. */
  command?: Command;
}

/**
 * Carries the commands of `client` to `redis`, and the replies back.
 *
 * Commands are written at once, unless one of them is held: from there on they wait in `requests`. Replies are written at
 * once, unless the line is silent, replies are delayed, or one of them is held: then they wait in `replies`.
 * A side that ends is followed by the other when what waits for it has been written, so that each end, like each byte,
 * arrives in order.
 */
export function carry(client: Socket, first: Socket, line: Line, number: number) {
  let redis = first;
  const requests: Request[] = [];
  const replies: { bytes: Buffer; cameAt: number; isHeld?: boolean }[] = [];
  /** What Redis was asked and has not answered, where replies are read. */
  const asked: { command: Command; sentAt: number; isAgain?: true; hear?(exchange: Exchange): void }[] = [];
  /** What the client has said of itself: who is asked in the place of Redis is told the same. */
  let greetings: Request[] = [];
  /** What it sends is kept by Redis until it says EXEC. */
  let isTransaction = false;
  /** It listens: messages come that nobody asked for. */
  let isSubscriber = false;
  let requestBytes = 0;
  let replyBytes = 0;
  /** The client sends nothing more; it may still read. */
  let hasClientEnded = false;
  let isClientGone = false;
  let isRedisGone = false;
  let isBroken = false;
  /** The error that a client gets at the end when it has sent something that the link can't read. */
  let refusal: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  const clientClosed = hasClosed(client);
  let redisClosed = hasClosed(redis);

  const reading = line.startReading?.();
  const read = reading?.readCommands((bytes, known) => {
    if (known === undefined) return send({ bytes, isHeld: false });
    const command = { ...known, connection: number };
    const hold = line.takeHold(command);
    if (hold === undefined) return send({ bytes, isHeld: false, command });
    const request = { bytes, isHeld: true, hold, command };
    send(request);
    hold.arrive(command, { letGo: () => letGo(request), drop: () => drop(request) });
  });

  function send(request: Request) {
    if (requests.length === 0 && !request.isHeld) return write(request);
    requests.push(request);
    requestBytes += request.bytes.length;
  }

  function write({ bytes, hold, command }: Request) {
    if (command && line.meetReply) {
      isSubscriber ||= command.name.endsWith('SUBSCRIBE');
      if (reading?.greetings.has(command.name)) greetings.push({ bytes, isHeld: false, command });
      if (unwatching.has(command.name)) greetings = greetings.filter((each) => each.command?.name !== 'WATCH');
      asked.push({ command, sentAt: performance.now() });
    }
    redis.cork();
    if (hold === undefined) redis.write(bytes);
    else
      redis.write(bytes, (error) => {
        if (error || !redis.writableEnded) return hold.settle(!error);
        // The client has gone, and these were its last bytes: Redis runs them before it closes.
        redisClosed.then(() => hold.settle(!isBroken));
      });
    if (command && line.askBehind) askBehind(command, line.askBehind);
    redis.uncork();
  }

  function askBehind(command: Command, ask: AskBehind) {
    isTransaction = command.name === 'MULTI' || (isTransaction && !unwatching.has(command.name));
    const more = isSubscriber ? undefined : ask(command);
    const question = asked.at(-1);
    if (more === undefined || question === undefined) return;
    const commands = isTransaction ? [] : more.commands;
    const all: Exchange[] = [];
    const hear = (exchange: Exchange) => {
      const [own, ...behind] = all.push(exchange) > commands.length ? all : [];
      if (own)
        more.hear(
          own,
          behind.map(({ reply }) => reply.returned ?? null),
        );
    };
    question.hear = hear;
    for (const each of commands) {
      redis.write(written(each));
      asked.push({ command, sentAt: performance.now(), isAgain: true, hear });
    }
  }

  function letGo(request: Request) {
    request.isHeld = false;
    writeRequests();
    steer();
  }

  function drop(request: Request) {
    const at = requests.indexOf(request);
    if (!request.isHeld || at === -1) return;
    forgetFrom(at);
    hasClientEnded = true;
    reset(client);
    writeRequests();
  }

  function writeRequests() {
    while (requests[0]?.isHeld === false) {
      const request = requests.shift() as Request;
      requestBytes -= request.bytes.length;
      write(request);
    }
    if (hasClientEnded && requests.length === 0) redis.end();
  }

  function forgetFrom(at: number) {
    for (const { bytes, hold } of requests.splice(at)) {
      requestBytes -= bytes.length;
      hold?.settle(false);
    }
  }

  function writeReplies() {
    clearTimeout(timer);
    while (replies[0] !== undefined && !line.isSilent && !replies[0].isHeld) {
      const { bytes, cameAt } = replies[0];
      const waitMs = cameAt + line.delayMs - performance.now();
      if (waitMs > 0) {
        timer = setTimeout(writeReplies, Math.ceil(waitMs));
        break;
      }
      replies.shift();
      replyBytes -= bytes.length;
      client.write(bytes);
    }
    if (isRedisGone && replies.length === 0 && !line.isSilent) {
      if (isBroken) reset(client);
      else client.end(refusal ?? '');
    }
    steer();
  }

  /** Stops reading a side while the other side does not take more, and the client while the line is silent. */
  function steer() {
    const isRedisFull = !isRedisGone && (redis.writableNeedDrain || requestBytes > KEPT_LIMIT);
    if (line.isSilent || isRedisFull) client.pause();
    else client.resume();
    if (!isClientGone && (client.writableNeedDrain || replyBytes > KEPT_LIMIT)) redis.pause();
    else redis.resume();
  }

  function readOrRefuse(bytes: Buffer) {
    try {
      read?.(bytes);
    } catch (error) {
      if (!(error instanceof NotACommand)) throw error;
      if (bytes[0] === TLS_HANDSHAKE) line.hasMetTls = true;
      refusal = `-ERR Protocol error: the fault proxy reads only arrays of bulk strings, and ${error.message}\r\n`;
      hasClientEnded = true;
      writeRequests();
    }
  }

  function onClientEnd() {
    // While the line is silent Redis does not learn of it.
    if (hasClientEnded || line.isSilent) return;
    hasClientEnded = true;
    writeRequests();
  }

  function onRedisEnd(isItBroken: boolean) {
    if (isRedisGone) return;
    isRedisGone = true;
    isBroken = isItBroken;
    forgetFrom(0);
    // Redis never closes one direction alone.
    redis.destroy();
    writeReplies();
  }

  client.on('data', (bytes) => {
    if (isRedisGone || hasClientEnded) return;
    // All the commands of one packet become one packet again.
    redis.cork();
    if (read === undefined) send({ bytes, isHeld: false });
    else readOrRefuse(bytes);
    redis.uncork();
    steer();
  });
  client.on('drain', steer);
  client.on('end', onClientEnd);
  client.on('close', () => {
    isClientGone = true;
    clearTimeout(timer);
    replies.length = 0;
    replyBytes = 0;
    onClientEnd();
    steer();
  });

  const answers = reading?.readReplies((reply) => {
    const question = reply.isPush || isSubscriber ? undefined : asked.shift();
    const cameAt = performance.now();
    const exchange = question && { command: question.command, sentAt: question.sentAt, reply, at: cameAt };
    if (exchange) question.hear?.(exchange);
    if (question?.isAgain || isClientGone) return;
    const hold = exchange && line.meetReply?.(exchange);
    const waiting = { bytes: reply.bytes, cameAt, isHeld: hold !== undefined };
    keepReply(waiting);
    const letGo = () => {
      waiting.isHeld = false;
      writeReplies();
    };
    if (exchange) hold?.arrive(exchange, { letGo, isGone: () => hasClientEnded });
  });

  function keepReply(reply: (typeof replies)[number]) {
    replies.push(reply);
    replyBytes += reply.bytes.length;
  }

  function onRedisData(bytes: Buffer) {
    if (isClientGone) return void (line.meetReply && answers?.(bytes));
    if (line.meetReply && answers) {
      client.cork();
      answers(bytes);
      writeReplies();
      client.uncork();
      return;
    }
    if (line.delayMs === 0 && !line.isSilent) {
      client.write(bytes);
      return steer();
    }
    keepReply({ bytes, cameAt: performance.now() });
    writeReplies();
  }

  function listenToRedis() {
    redis.on('data', onRedisData);
    redis.on('drain', steer);
    redis.on('error', () => {});
    redis.on('end', () => onRedisEnd(false));
    redis.on('close', onRedisEnd);
  }
  listenToRedis();
  steer();

  function destroy() {
    reset(client);
    onRedisEnd(true);
  }

  return {
    /** The line has gone silent, is restored, or delays replies differently. */
    lineChanged() {
      if (isClientGone) onClientEnd();
      writeReplies();
    },
    /** Ends the client's side by a reset. Redis' side ends when it has been given what the link has taken in. */
    resetClient() {
      reset(client);
      onClientEnd();
    },
    /** Ends both sides, and what is held. */
    destroy,
    /**
     * Ends both sides, unless a reply is held: whoever waits for it is to learn nothing before it goes on, and is led on to another server
     * as one who had connected again meanwhile.
     */
    moveTo(open: () => Socket) {
      if (hasClientEnded || !replies.some(({ isHeld }) => isHeld)) return destroy();
      redis.removeAllListeners();
      redis.on('error', () => {});
      redis.destroy();
      redis = open();
      redisClosed = hasClosed(redis);
      listenToRedis();
      [isRedisGone, isBroken] = [false, false];
      asked.length = 0;
      for (const { bytes, command } of greetings) {
        redis.write(bytes);
        asked.push({ command: command as Command, sentAt: performance.now(), isAgain: true });
      }
      steer();
    },
    /** Resolves when both sides are closed. */
    closed: clientClosed.then(() => redisClosed),
  };
}

/** A command as it is sent. https://redis.io/docs/latest/develop/reference/protocol-spec/ */
const written = (parts: string[]) =>
  `*${parts.length}\r\n${parts.map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`).join('')}`;

/** Ends the connection as by a reset. */
export function reset(socket: Socket) {
  // A client that has ended has nothing left to be reset.
  if (socket.readableEnded) socket.destroy();
  else socket.resetAndDestroy();
}

function hasClosed(socket: Socket) {
  return new Promise<void>((resolve) => {
    socket.once('close', () => resolve());
    // Node emits no 'close' when the reset itself fails, because the other side was quicker.
    socket.on('error', (error: NodeJS.ErrnoException) => error.syscall === 'reset' && resolve());
  });
}
