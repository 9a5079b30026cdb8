// The connection of a node to a server. It stands for two ioredis connections, one for commands and one for subscriptions, which end together.
//
//         the command crosses                  the server carries it out
//   node ────────────────────► proxy ────────────────────► server
//        ◄──────────────────── delays ◄────────────────────
//         the node hears the reply
//
// up ──► lost ──► up again: a command that was under way is rejected, and its answer never comes. What was on its way to the server
// arrives all the same.

import { ANSWER_LIMIT_MS } from '../locks/drivers/answer-limit.ts';
import { redisOptions } from '../services/inventory/servers/redis-client.ts';
import type { Message, Tell } from './events.ts';
import type { VirtualProxy } from './proxy.ts';
import type { Schedule } from './schedule.ts';
import { asRead, readableOf } from './scripts.ts';
import { CLOSED } from './server.ts';
import { type Connection, type Reply, ReplyError, returnedOf } from './valkey.ts';
import { type NearEnd, openWay, type Sender } from './way.ts';
import type { Command, Line, Pending } from './world/commands.ts';
import type { World } from './world.ts';

const RECONNECT_MS = redisOptions.retryStrategy();

export interface ConnectionOptions {
  schedule: Schedule;
  world: World;
  proxy: VirtualProxy;
  /** The node that has the connection. */
  node: NearEnd;
  /** The number of the server in the node's world. */
  server: number;
  /** The number of each line at the server. */
  numbers: Record<Line, Connection>;
  /** How long the node waits for something to come while a command is under way, in milliseconds, before it gives the connection up. */
  answerLimitMs?: number | undefined;
  tell: Tell;
  /** The sale that a command names. */
  saleIn(command: Command): string | undefined;
}

export type NodeConnection = ReturnType<typeof openConnection>;

export function openConnection(options: ConnectionOptions) {
  const { schedule, world, proxy, node, server, numbers, answerLimitMs = ANSWER_LIMIT_MS, tell, saleIn } = options;
  const listeners = { ready: new Set<() => void>(), close: new Set<() => void>() };
  /** The commands under way, by their numbers. */
  const underWay = new Set<number>();
  const way = openWay({ schedule, proxy, node, tell });
  let senders: Record<Line, Sender> = { commands: [], messages: [] };
  /** What came behind a WAIT that the server has not answered, on the same connection. */
  let waiting: { of: number; behind: (() => void)[] } | undefined;
  /** Which connection this is, from 1. */
  let current = 0;
  let isUp = false;
  let isClosed = false;
  /** What the node knows of it: it hears of an end when its process runs. */
  let isReady = false;
  let leave = () => {};
  /** When it is given up, unless something comes before. */
  let givenUpAt = 0;
  let isWatchingSilence = false;

  function connect() {
    current += 1;
    isUp = true;
    isReady = true;
    senders = { commands: [], messages: [] };
    const leaveProxy = proxy.connect({ lose });
    const leaveServer = proxy.server().connect({ lose });
    proxy.server().listen(numbers.messages, (channel, message) => comeBack(() => world.hear(channel, message)));
    leave = () => {
      leaveProxy();
      leaveServer();
    };
  }

  function lose(why: string) {
    if (!isUp) return;
    isUp = false;
    current += 1;
    leave();
    proxy.server().disconnect(numbers.messages);
    node.take(() => {
      isReady = false;
      underWay.clear();
      for (const pending of world.pending()) {
        if (pending.server === server) world.reply(pending.id, new ReplyError(why));
      }
      for (const listener of [...listeners.close]) listener();
      connectAgain();
    });
  }

  /** Tries as often as ioredis does. */
  function connectAgain() {
    schedule.after(RECONNECT_MS, () => {
      if (isClosed) return;
      if (!proxy.isOpen()) return connectAgain();
      node.take(() => {
        if (!proxy.isOpen()) return connectAgain();
        connect();
        for (const listener of [...listeners.ready]) listener();
      });
    });
  }

  /** The node sends a command. On a connection that it does not know to be lost, it never arrives. */
  function send({ id, line, command, sale }: Pending) {
    if (!isUp) return;
    const message = { node: node.name, id, sale: sale ?? saleIn(command), server, ...readableOf(command) };
    tell({ kind: 'command', ...message });
    const mine = current;
    if (underWay.size === 0) givenUpAt = schedule.later(node.busyMs() + answerLimitMs);
    underWay.add(id);
    watchSilence();
    way.send(senders[line], {
      read: asRead(command),
      message,
      arrive() {
        proxy.server().receive(() => carryOut(mine, message, line, command));
        return !proxy.server().isDead();
      },
      drop: () => mine === current && lose(CLOSED),
    });
  }

  /** The command is at the server. */
  function carryOut(mine: number, message: Message, line: Line, command: Command) {
    if (waiting?.of === mine && line === 'commands') {
      return void waiting.behind.push(() => carryOut(mine, message, line, command));
    }
    const [verb, ...args] = command;
    if (verb === 'WAIT') return wait(mine, args.map(Number), (reply) => answer(mine, message, reply));
    answer(mine, message, proxy.server().execute(numbers[line], command));
  }

  /** The server answers WAIT later, and until then nothing else on its connection. */
  function wait(mine: number, [count = 0, limitMs = 0]: number[], answered: (reply: number) => void) {
    const place = { of: mine, behind: [] as (() => void)[] };
    waiting = place;
    proxy.server().wait(numbers.commands, count, limitMs, (reply) => {
      if (waiting === place) waiting = undefined;
      answered(reply);
      for (const each of place.behind) each();
    });
  }

  /** The server has carried a command out. */
  function answer(mine: number, message: Message, reply: Reply) {
    const { id } = message;
    tell({ kind: 'done', ...message, returned: returnedOf(reply) });
    if (mine !== current) return;
    comeBack(() => {
      underWay.delete(id);
      tell({ kind: 'reply', ...message });
      world.reply(id, reply);
    });
  }

  /** Something comes to the node from the server, in order, unless the connection is lost before. */
  function comeBack(what: () => void) {
    const mine = current;
    way.comeBack(() => {
      if (mine !== current) return;
      givenUpAt = schedule.later(answerLimitMs);
      what();
    });
  }

  /** The connection is given up when nothing comes for so long while a command is under way: ioredis does it so. */
  function watchSilence() {
    if (isWatchingSilence) return;
    isWatchingSilence = true;
    schedule.after(givenUpAt - schedule.now(), () =>
      node.take(() => {
        isWatchingSilence = false;
        if (!isUp || underWay.size === 0) return;
        if (givenUpAt > schedule.now()) return watchSilence();
        lose(`Socket timeout. Expecting data, but didn't receive any in ${answerLimitMs}ms.`);
      }),
    );
  }

  connect();

  return {
    listeners,
    answerLimitMs,
    isReady: () => isReady,
    send,
    /** The process of the node is dead. */
    close() {
      isClosed = true;
      isUp = false;
      current += 1;
      leave();
      proxy.server().disconnect(numbers.messages);
    },
  };
}
