import { describe, expect, test } from 'vitest';
import type { Scope } from '../../prove/scopes.ts';
import type { State, Step } from '../../prove/state.ts';
import { fileOf, movesUnder, scopeNamed, searchIn, writeLock } from './own-locks.ts';

type Moves = Awaited<ReturnType<typeof movesUnder>>;

/** Every order of events, each from its first step to its end. */
async function* ordersOf({ movesFrom }: Moves, state: State, before: Step[] = []): AsyncGenerator<Step[]> {
  const { moves } = await movesFrom(state);
  if (moves.length === 0) yield before;
  for (const move of moves) yield* ordersOf({ movesFrom } as Moves, move.state, [...before, move.step()]);
}

async function allOrders(moves: Moves): Promise<Step[][]> {
  const orders: Step[][] = [];
  for await (const order of ordersOf(moves, moves.begin())) orders.push(order);
  return orders;
}

const never: Scope = { ...scopeNamed('plain'), demands: [] };
const isOf = (name: string) => (step: Step) => step.process === name;

describe('moves: a connection is first in, first out', () => {
  // Two commands at once, of which nobody waits for the first.
  const eager = writeLock(
    `return {
      async acquire() { void redis.rpush('log', ownerToken + '-1'); await redis.rpush('log', ownerToken + '-2'); },
      async release() {},
    };`,
  );

  test('so are its replies', async () => {
    const moves = await movesUnder(eager, never);
    const merges = new Set<string>();
    for await (const order of ordersOf(moves, moves.begin())) {
      merges.add(order.map(({ process, sent }) => (sent?.command[0] === 'RPUSH' ? process : '')).join(''));
      for (const name of ['A', 'B']) {
        const own = order.filter(isOf(name));
        const pushed = own.flatMap(({ sent }) => (sent?.command[0] === 'RPUSH' ? [sent.command[2]] : []));
        const read = own.flatMap(({ input }) => (input?.type === 'reply' ? [input.id] : []));
        expect(pushed).toEqual(pushed.toSorted());
        expect(read).toEqual(read.toSorted((one, other) => one - other));
      }
    }

    // Those of two processes come in every order. Two of A and two of B: 4 over 2.
    expect(merges.size).toBe(6);
  });
});

describe('moves: messages', () => {
  // Neither goes on to sell, so that nothing else is on its way.
  const news = writeLock(
    `return {
      async acquire() {
        if (ownerToken !== 'B:1') {
          await redis.publish('news', 'first');
          await redis.publish('news', 'second');
        } else await redis.duplicate().subscribe('news');
        throw new Error('it was only here for the news');
      },
      async release() {},
    };`,
  );

  test('a process hears them in the order in which they were sent, at any time after', async () => {
    const orders = await allOrders(await movesUnder(news, never));
    const heard = orders.map((order) =>
      order.flatMap(({ input }) => (input?.type === 'message' ? [input.message] : [])),
    );

    expect(new Set(heard.map((messages) => messages.join()))).toEqual(new Set(['', 'second', 'first,second']));
    const places = orders.map((order) => ({
      sent: order.findIndex(({ sent }) => sent?.command[2] === 'second'),
      heard: (message: string) =>
        order.findIndex(({ input }) => input?.type === 'message' && input.message === message),
    }));
    for (const { sent, heard } of places) if (heard('second') >= 0) expect(heard('second')).toBeGreaterThan(sent);
    expect(places.some(({ sent, heard }) => heard('first') > sent)).toBe(true);
  });
});

describe('moves: the clock', () => {
  test('it stands still while a command is on its way, and a timer waits until it is due', async () => {
    const orders = await allOrders(await movesUnder(fileOf('4-ttl'), 'plain'));

    for (const order of orders) {
      const open = new Map<string, number>();
      for (const { process, kind, sent, at } of order) {
        if (kind === 'begins') open.set(process, at);
        // Each command of a sale follows from the reply to the one before it, or from a timer: at the same moment.
        if (sent) expect({ process, at }).toEqual({ process, at: open.get(process) });
        if (kind === 'timer') open.set(process, at);
      }
      expect(order.map(({ at }) => at)).toEqual(order.map(({ at }) => at).toSorted((one, other) => one - other));
      for (const { kind, at } of order) if (kind === 'timer') expect(at % 300).toBe(0);
    }
  });
});

describe('moves: a budget is spent', () => {
  test.each([
    ['late-release', 'hold up'],
    ['crashed-holder', 'crash'],
    ['failover', 'failover'],
  ])('%s: in each order at most one', async (scope, kind) => {
    const moves = await movesUnder(fileOf('4-ttl'), { ...scopeNamed(scope), demands: [] });
    let most = 0;
    for await (const order of ordersOf(moves, moves.begin())) {
      most = Math.max(most, order.filter((step) => step.kind === kind).length);
    }

    expect(most).toBe(1);
  });
});

describe('moves: luck', () => {
  const lucky = writeLock(
    `return {
      async acquire() {
        if (Math.random() > 0.5) return;
        while ((await redis.set(key, ownerToken, 'PX', leaseMs, 'NX')) !== 'OK') await sleep(retryDelayMs);
      },
      async release() { if ((await redis.get(key)) === ownerToken) await redis.del(key); },
    };`,
    "import { setTimeout as sleep } from 'node:timers/promises';",
  );

  test('Math.random(): a lock that breaks for a large number only is found out', async () => {
    const { verdict, counterexample = [] } = await searchIn(lucky, 'plain');

    expect(verdict).toBe('fails');
    expect(counterexample.some(({ what }) => what.form === 'with luck' && what.values.chance === 0.9)).toBe(true);
  });
});
