// A TCP fault proxy for Redis or MySQL that holds commands, delays replies and cuts connections. For other servers it only
// delays and cuts.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { readCommands } from '../../simulation/resp.ts';
import { asRead } from '../../simulation/scripts.ts';
import { type Command, isMeant, type Meant } from './command.ts';
import { type AskBehind, type Connection, carry, type Exchange, type Line, type Reading, reset } from './connection.ts';
import { createHold, type Held, type Hold } from './hold.ts';
import { readReplies } from './replies.ts';
import { readStatements } from './statements.ts';

export type { Command, Exchange, Held };

/** A proxy that parses replies as well as commands. */
export type ReplyLink = Awaited<ReturnType<typeof open>>;
export type Link = Omit<ReplyLink, 'holdNextReply' | 'watchReplies' | 'askBehind' | 'leadsTo' | 'hasMetTls'> &
  Partial<Pick<ReplyLink, 'watchReplies' | 'askBehind'>>;

/**
 *
 * Opens a TCP fault proxy on this machine to the Redis at `url`. Traffic that it does not hold or delay passes byte by byte. A
 * client that sends anything but arrays of bulk strings gets an error, and its connection ends.
 *
 * With `mysql://` or `zookeeper://` it is one to another server: it can't read what passes, so it holds and counts no command.
 *
 * What it costs: about 10 µs a command. SET and GET on one connection take 20 µs instead of 10 one at a time, so 0.5 times as
 * many a second; with 50 in flight it is 0.8 to 0.95 times as many. Measured with the link in a process of its own, on 2 cores,
 * Node 20 and Redis 7.0.
 *
 */
export async function openLink(url: string): Promise<Link> {
  const { watchReplies, askBehind, ...link } = await open(url, false);
  return link;
}

/** Like `openLink`, but also parses replies and, with `mysql://`, statements, which costs some µs more for each. */
export const openReplyLink = (url: string): Promise<ReplyLink> => open(url, true);

const readRedis = (): Reading => ({
  readCommands: (onCommand) => readCommands((args, bytes) => onCommand(bytes, asRead(args.map(String)))),
  readReplies,
  greetings: new Set(['HELLO', 'AUTH', 'SELECT', 'WATCH']),
});

async function open(url: string, readsReplies: boolean) {
  let target = addressOf(url);
  let isRefusing = false;
  /** A node may have connections to both. */
  const firstNumber = url.startsWith('mysql:') ? 1_000_000 : 0;
  /** Counts since the proxy was opened. */
  const counters = {
    /** Connections opened by clients, not counting those refused during a cut. */
    connections: 0,
    /** Connections that are currently open on at least one side. */
    get open() {
      return connections.size;
    },
    /** The count of each command, by name. A script of ours also counts under its own name. */
    commands: new Map<string, number>(),
    /** The number of held commands. */
    held: 0,
  };
  const line: Line = {
    startReading: url.startsWith('redis:') ? readRedis : readsReplies ? readStatements : undefined,
    isSilent: false,
    delayMs: 0,
    takeHold,
    hasMetTls: false,
    ...(readsReplies && { meetReply }),
  };
  const connections = new Set<Connection>();
  /** Clients that connected while the connection was silent. */
  const unanswered = new Set<Socket>();
  /** Holds whose command has not arrived, oldest first. */
  const holds = new Set<Hold>();
  const watchers = new Set<(command: Command) => void>();
  /** Holds whose reply has not arrived, oldest first. */
  const replyHolds = new Set<Hold<Exchange> & { since: number }>();
  const replyWatchers = new Set<(exchange: Exchange) => void>();

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

  const connectOn = () => connect({ ...target, allowHalfOpen: true, noDelay: true });

  function carryOn(client: Socket) {
    const connection = carry(client, connectOn(), line, firstNumber + counters.connections);
    connections.add(connection);
    connection.closed.then(() => connections.delete(connection));
  }

  function count(name: string) {
    counters.commands.set(name, (counters.commands.get(name) ?? 0) + 1);
  }

  function takeHold(command: Command): Hold | undefined {
    count(command.name);
    if (command.script !== undefined) count(command.script);
    for (const see of watchers) see(command);
    for (const hold of holds) {
      try {
        if (!isMeant(hold.meant, command)) continue;
      } catch (error) {
        hold.giveUp(error);
        continue;
      }
      holds.delete(hold);
      counters.held += 1;
      return hold;
    }
  }

  /**
   * Holds the next matching command and everything that its connection sends later; other connections are not held. Meant is
   * a name (`DEL`), a script's name (`release-if-owner`), or what a function says true to, which is shown every command
   * of every connection until then. Of several holds that mean the same command the oldest gets it.
   *
   * The connection to Redis stays open until the command is let go, even when the client closes or the line is cut: so
   * a packet arrives late although its sender has gone.
   */
  function holdNext(meant: Meant): Held {
    const hold = createHold(meant, () => holds.delete(hold));
    holds.add(hold);
    return hold.held;
  }

  function meetReply(exchange: Exchange): Hold<Exchange> | undefined {
    for (const see of replyWatchers) see(exchange);
    for (const hold of replyHolds) {
      if (exchange.sentAt < hold.since || !isMeant(hold.meant, exchange.command)) continue;
      replyHolds.delete(hold);
      return hold;
    }
  }

  function holdNextReply(meant: Meant): Held<Exchange> {
    const hold = Object.assign(
      createHold<Exchange>(meant, () => replyHolds.delete(hold)),
      { since: performance.now() },
    );
    replyHolds.add(hold);
    return hold.held;
  }

  function endConnections() {
    isRefusing = true;
    line.isSilent = false;
    for (const client of unanswered) reset(client);
    for (const connection of connections) connection.resetClient();
  }

  return {
    /** The address that clients use instead of the server's. User, password and database are those of the original URL. */
    url: Object.assign(new URL(url), { host: `127.0.0.1:${port}` }).href,
    port,
    holdNext,
    /**
     *
     * Lets the next matching command pass, but holds its reply and all later replies of its connection: Redis has executed it,
     * and the client does not know. What the connection sends meanwhile still passes.
     *
     */
    holdNextReply,
    /** The address of the server that new connections go to. */
    leadsTo: () => target.url,
    /** True if a client used TLS, which can't be parsed. */
    hasMetTls: () => line.hasMetTls,
    /** Calls `see` with each command and its reply, when the reply arrives. Returns a function to stop. */
    watchReplies(see: (exchange: Exchange) => void): () => void {
      replyWatchers.add(see);
      return () => void replyWatchers.delete(see);
    },
    /**
     *
     * Sends the queries of `ask` to Redis right after each command, except in a transaction: their replies show the state just
     * after the command. Returns a function to stop.
     *
     */
    askBehind(ask: AskBehind): () => void {
      line.askBehind = ask;
      return () => {
        if (line.askBehind === ask) line.askBehind = undefined;
      };
    },
    /** Calls `see` with every command that arrives, before it is held or forwarded. Returns a function to stop. */
    watch(see: (command: Command) => void): () => void {
      watchers.add(see);
      return () => void watchers.delete(see);
    },
    /** Delays every reply by this long, in order. 0 ends the delay and forwards the waiting replies. */
    delayReplies(ms: number) {
      line.delayMs = ms;
      for (const connection of connections) connection.lineChanged();
    },
    /**
     * Cuts the connections between the clients and the proxy. `reset` ends their connections, and every new one at once. `silent`
     * closes nothing: packets stop in both directions and arrive after `restore`, as TCP sends them again. What the link
     * has taken in by then, and above all what it holds, is beyond the cut.
     */
    cut(how: 'reset' | 'silent' = 'reset') {
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
    /** Ends all connections and what they hold; new ones go to this Redis. */
    moveTo(redisUrl: string) {
      target = addressOf(redisUrl);
      for (const connection of connections) connection.moveTo(connectOn);
    },
    /** Resolves when no connection is left. */
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const hold of holds) hold.giveUp(new Error('The proxy was closed before the command arrived.'));
      for (const client of unanswered) client.destroy();
      for (const connection of connections) connection.destroy();
      await Promise.all([closed, ...[...connections].map((connection) => connection.closed)]);
    },
    counters,
  };
}

const usualPorts: Record<string, number> = { 'redis:': 6379, 'mysql:': 3306, 'zookeeper:': 2181 };

function addressOf(url: string) {
  const { protocol, hostname, port } = new URL(url);
  const usualPort = usualPorts[protocol];
  if (usualPort === undefined) throw new Error(`The proxy supports redis://, not ${protocol}//: it can't decrypt TLS.`);
  return { url, host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port || usualPort) };
}
