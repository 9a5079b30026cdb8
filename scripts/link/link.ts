import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { basename, join } from 'node:path';
import { projectDir } from '../stack/parts.ts';
import { readRequests } from './resp.ts';

/** How many bytes of one connection the link keeps in each direction before it stops reading. */
const KEPT_LIMIT = 1024 * 1024;

export interface Command {
  /** Upper-case, such as `SET`. */
  name: string;
  /** What follows the name, read as UTF-8. */
  args: string[];
  /** The name of the `lua/*.lua` that an EVALSHA or EVAL runs, such as `release-if-owner`. */
  script?: string;
}

/** A command that is held, or will be. */
export interface Held {
  /** Resolves when the command has arrived at the link. Rejects when it is not waited for any more, or `meant` throws. */
  arrived: Promise<Command>;
  /**
   * Passes the command on, and what came after it. Resolves with true when it is on its way to Redis; if the client has
   * gone, when Redis has run it. Resolves with false when it never gets there: Redis or the link has closed the
   * connection meanwhile, or it was dropped.
   */
  letGo(): Promise<boolean>;
  /** The command and what came after it never reach Redis, and the client's connection ends as by a reset. */
  drop(): void;
  /** Waits for the command no longer, as `letGo` and `drop` do before it has arrived. One that has stays held. */
  cancel(): void;
}

export interface Link {
  /** What clients connect to instead of Redis. User, password and database are those of the Redis it was opened with. */
  url: string;
  port: number;
  /**
   * Holds the next command that is meant, and with it what its connection sends later; other connections go on. Meant is
   * a name (`DEL`), a script's name (`release-if-owner`), or what a function says true to, which is shown every command
   * of every connection until then. Of several holds that mean the same command the oldest gets it.
   *
   * The connection to Redis stays open until the command is let go, even when the client closes or the line is cut: so
   * a packet arrives late although its sender has gone.
   */
  holdNext(meant: string | ((command: Command) => boolean)): Held;
  /** Passes every reply on this much later, in order. 0 ends it, and passes on those that wait. */
  delayReplies(ms: number): void;
  /**
   * Cuts the line between the clients and the link. `reset` ends their connections, and every new one at once. `silent`
   * closes nothing: packets stop in both directions and arrive after `restore`, as TCP sends them again. What the link
   * has taken in by then, and above all what it holds, is beyond the cut.
   */
  cut(how?: 'reset' | 'silent'): void;
  restore(): void;
  /** Ends all connections, and what is held on them; new ones lead to this Redis. */
  moveTo(redisUrl: string): void;
  /** Resolves when no connection is left. */
  close(): Promise<void>;
  /** What has come since the link was opened. */
  counters: Counters;
}

export interface Counters {
  /** Connections that clients made; those that a cut refused are not among them. */
  connections: number;
  /** Connections that are not closed on both sides, now. */
  readonly open: number;
  /** How often each command came, by its name. A script of ours counts under its own name as well. */
  commands: Map<string, number>;
  /** Commands that were held. */
  held: number;
  /** Connections that sent something which is no request. From there on they pass unread. */
  invalid: number;
}

/**
 * Opens a TCP proxy on this machine to the Redis at `redisUrl`. What it is not told to touch passes byte by byte.
 *
 * What it costs: about 10 µs a command. SET and GET on one connection take 20 µs instead of 10 one at a time, so 0.5 times
 * as many a second; with 50 in flight it is 0.8 to 0.95 times as many. Measured with the link in a process of its own, on 2 cores,
 * Node 20 and Redis 7.0, by `npx tsx test/scripts/link/cost.ts`.
 */
export async function openLink(redisUrl: string): Promise<Link> {
  let target = addressOf(redisUrl);
  let isRefusing = false;
  const counters = {
    connections: 0,
    get open() {
      return connections.size;
    },
    commands: new Map<string, number>(),
    held: 0,
    invalid: 0,
  };
  const line: Line = { isSilent: false, delayMs: 0, isExpected, takeHold, onInvalid: () => counters.invalid++ };
  const connections = new Set<Connection>();
  /** Clients that came while the line was silent. */
  const unanswered = new Set<Socket>();
  /** Those whose command has not come, the oldest first. */
  const holds = new Set<Hold>();

  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    // An error is followed by 'close', which says all that matters.
    client.on('error', () => {});
    if (isRefusing) return reset(client);
    counters.connections += 1;
    if (!line.isSilent) return carryOn(client);
    unanswered.add(client);
    client.once('close', () => unanswered.delete(client));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  function carryOn(client: Socket) {
    const connection = carry(client, connect({ ...target, allowHalfOpen: true, noDelay: true }), line);
    connections.add(connection);
    connection.closed.then(() => connections.delete(connection));
  }

  function isExpected(name: string, firstArg: string | undefined) {
    count(name);
    const script = scriptName(name, firstArg);
    if (script !== undefined) count(script);
    if (holds.size === 0) return false;
    return [...holds].some(({ meant }) => typeof meant !== 'string' || isCalled(meant, name, script));
  }

  function count(name: string) {
    counters.commands.set(name, (counters.commands.get(name) ?? 0) + 1);
  }

  function takeHold(command: Command): Hold | undefined {
    for (const hold of holds) {
      try {
        const { meant } = hold;
        if (!(typeof meant === 'string' ? isCalled(meant, command.name, command.script) : meant(command))) continue;
      } catch (error) {
        hold.giveUp(error);
        continue;
      }
      holds.delete(hold);
      counters.held += 1;
      return hold;
    }
  }

  function holdNext(meant: string | ((command: Command) => boolean)) {
    const hold = createHold(meant, () => holds.delete(hold));
    holds.add(hold);
    return hold.held;
  }

  function endConnections() {
    isRefusing = true;
    line.isSilent = false;
    for (const client of unanswered) reset(client);
    for (const connection of connections) connection.resetClient();
  }

  return {
    url: Object.assign(new URL(redisUrl), { host: `127.0.0.1:${port}` }).href,
    port,
    holdNext,
    delayReplies(ms) {
      line.delayMs = ms;
      for (const connection of connections) connection.lineChanged();
    },
    cut(how = 'reset') {
      if (how === 'reset') return endConnections();
      isRefusing = false;
      line.isSilent = true;
      for (const connection of connections) connection.lineChanged();
    },
    restore() {
      isRefusing = false;
      line.isSilent = false;
      for (const connection of connections) connection.lineChanged();
      for (const client of unanswered) carryOn(client);
      unanswered.clear();
    },
    moveTo(redisUrl) {
      target = addressOf(redisUrl);
      for (const connection of connections) connection.destroy();
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const hold of holds) hold.giveUp(new Error('The link was closed before the command came.'));
      for (const client of unanswered) client.destroy();
      for (const connection of connections) connection.destroy();
      await Promise.all([closed, ...[...connections].map((connection) => connection.closed)]);
    },
    counters,
  };
}

function addressOf(redisUrl: string) {
  const { protocol, hostname, port } = new URL(redisUrl);
  if (protocol !== 'redis:') throw new Error(`The link reads redis://, not ${protocol}//: it cannot see through TLS.`);
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port || 6379) };
}

const luaDir = join(projectDir, 'lua');
const sha1 = (text: string | Buffer) => createHash('sha1').update(text).digest('hex');
const scriptNames = new Map(
  readdirSync(luaDir).map((file) => [sha1(readFileSync(join(luaDir, file))), basename(file, '.lua')]),
);

function scriptName(command: string, firstArg: string | undefined): string | undefined {
  if (firstArg === undefined || !command.startsWith('EVAL')) return undefined;
  return scriptNames.get(command.startsWith('EVALSHA') ? firstArg.toLowerCase() : sha1(firstArg));
}

function isCalled(meant: string, name: string, script: string | undefined) {
  return meant === script || meant.toUpperCase() === name;
}

interface Hold {
  meant: string | ((command: Command) => boolean);
  held: Held;
  /** The command has come, and waits until it is let go or dropped. */
  arrive(command: Command, place: Place): void;
  /** It has reached Redis, or never will. */
  settle(hasReachedRedis: boolean): void;
  /** It has not come and is not waited for any more. */
  giveUp(error: unknown): void;
}

/** Where a command is held. */
interface Place {
  letGo(): void;
  drop(): void;
}

function createHold(meant: Hold['meant'], forget: () => void): Hold {
  let place: Place | undefined;
  let resolveArrived: (command: Command) => void;
  let rejectArrived: (error: unknown) => void;
  let settle: (hasReachedRedis: boolean) => void = () => {};
  const arrived = new Promise<Command>((resolve, reject) => {
    resolveArrived = resolve;
    rejectArrived = reject;
  });
  // Nobody has to wait for it.
  arrived.catch(() => {});
  const reached = new Promise<boolean>((resolve) => {
    settle = resolve;
  });

  function giveUp(error: unknown) {
    forget();
    rejectArrived(error);
    settle(false);
  }

  function cancel() {
    if (place === undefined) giveUp(new Error('The command is not waited for any more.'));
  }

  return {
    meant,
    held: {
      arrived,
      letGo() {
        cancel();
        place?.letGo();
        return reached;
      },
      drop() {
        cancel();
        place?.drop();
      },
      cancel,
    },
    arrive(command, itsPlace) {
      place = itsPlace;
      resolveArrived(command);
    },
    settle,
    giveUp,
  };
}

/** What all connections of a link share. */
interface Line {
  isSilent: boolean;
  delayMs: number;
  /** Asked once for each command, when its name is known: may a hold mean it? */
  isExpected(name: string, firstArg: string | undefined): boolean;
  takeHold(command: Command): Hold | undefined;
  onInvalid(): void;
}

interface Connection {
  /** The line has gone silent, is restored, or delays replies differently. */
  lineChanged(): void;
  /** Ends the client's side by a reset. Redis' side ends when it has been given what the link has taken in. */
  resetClient(): void;
  /** Ends both sides, and what is held. */
  destroy(): void;
  /** Resolves when both sides are closed. */
  closed: Promise<unknown>;
}

/** Bytes on their way to Redis. */
interface Request {
  bytes: Buffer;
  isHeld: boolean;
  hold?: Hold;
}

/**
 * Carries bytes between one client and Redis.
 *
 * To Redis they are written at once, unless a held command is among them: from there on they wait in `requests`. Back to
 * the client they are written at once, unless the line is silent or replies are delayed: then they wait in `replies`.
 * A side that ends is followed by the other when what waits for it has been written, so that each end, like each byte,
 * arrives in order.
 */
function carry(client: Socket, redis: Socket, line: Line): Connection {
  const requests: Request[] = [];
  const replies: { bytes: Buffer; cameAt: number }[] = [];
  let requestBytes = 0;
  let replyBytes = 0;
  /** The client sends nothing more; it may still read. */
  let hasClientEnded = false;
  let isClientGone = false;
  let isRedisGone = false;
  let isBroken = false;
  let timer: NodeJS.Timeout | undefined;
  const clientClosed = hasClosed(client);
  const redisClosed = hasClosed(redis);

  const reader = readRequests({
    isWanted: line.isExpected,
    onBytes: (bytes) => send({ bytes, isHeld: false }),
    onWanted(args, bytes) {
      const command = asCommand(args);
      const hold = line.takeHold(command);
      if (hold === undefined) return send({ bytes, isHeld: false });
      const request = { bytes, isHeld: true, hold };
      send(request);
      hold.arrive(command, { letGo: () => letGo(request), drop: () => drop(request) });
    },
    onInvalid: line.onInvalid,
  });

  function send(request: Request) {
    if (requests.length === 0 && !request.isHeld) return write(request);
    requests.push(request);
    requestBytes += request.bytes.length;
  }

  function write({ bytes, hold }: Request) {
    if (hold === undefined) return redis.write(bytes);
    redis.write(bytes, (error) => {
      if (error || !redis.writableEnded) return hold.settle(!error);
      // The client has gone, and these were its last bytes: Redis runs them before it closes.
      redisClosed.then(() => hold.settle(!isBroken));
    });
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
    while (replies[0] !== undefined && !line.isSilent) {
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
      else client.end();
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

  function onClientEnd() {
    // While the line is silent Redis does not learn of it.
    if (hasClientEnded || line.isSilent) return;
    reader.end();
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
    if (isRedisGone) return;
    reader.read(bytes);
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

  redis.on('data', (bytes) => {
    if (isClientGone) return;
    if (line.delayMs === 0 && !line.isSilent) {
      client.write(bytes);
      return steer();
    }
    replies.push({ bytes, cameAt: performance.now() });
    replyBytes += bytes.length;
    writeReplies();
  });
  redis.on('drain', steer);
  redis.on('error', () => {});
  redis.on('end', () => onRedisEnd(false));
  redis.on('close', onRedisEnd);
  steer();

  return {
    lineChanged() {
      if (isClientGone) onClientEnd();
      writeReplies();
    },
    resetClient() {
      reset(client);
      onClientEnd();
    },
    destroy() {
      reset(client);
      onRedisEnd(true);
    },
    closed: Promise.all([clientClosed, redisClosed]),
  };
}

/** Ends the connection as by a reset. */
function reset(socket: Socket) {
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

function asCommand(args: Buffer[]): Command {
  const [name = '', ...rest] = args.map((arg) => arg.toString());
  const script = scriptName(name.toUpperCase(), rest[0]);
  return { name: name.toUpperCase(), args: rest, ...(script !== undefined && { script }) };
}
