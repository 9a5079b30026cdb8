// A copy of a service as a node of the harness: its traffic tells what our own nodes tell over their admin API.

import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { SaleEvent, SaleScript } from '../../../services/inventory/sale/contract.ts';
import { poll } from '../../harness/clock.ts';
import type { Network } from '../../harness/network.ts';
import type { OnPush, TargetNode } from '../../harness/target.ts';
import { machineClock, machineNetwork } from '../real/machine.ts';
import { type Learned, wireOf } from './learned.ts';
import { seeSales } from './sales-seen.ts';
import type { Copy } from './stack.ts';
import type { StockRow } from './stock-row.ts';
import { isStopped } from './stopped.ts';

/** How long a copy may take to reach its Redis, in milliseconds. */
const REACH_LIMIT_MS = 300;
/** How long a loaded JVM may take to stand still, in milliseconds. */
const STILL_LIMIT_MS = 1_000;
/** How long Redis may leave the harness unanswered, in milliseconds. */
const SERVER_LIMIT_MS = 1_000;
/** Its commands have ended when none has come for so long, in milliseconds. */
const QUIET_MS = 150;
const clock = machineClock;

/** Why a drill that needs something can't be carried. */
export const no = (what: string) => `A service that is judged by its traffic has no ${what}.`;

export type ForeignNode = ReturnType<typeof foreignNodeOf>;

export function foreignNodeOf(copy: Copy, leaseMs: number, row: StockRow | undefined) {
  const { name, url, link } = copy;
  let known: Learned | undefined;
  let wire: ReturnType<typeof wireOf> | undefined;
  let events: SaleEvent[] = [];
  let writesBefore = 0;
  let lastAt = 0;
  let isDead = false;
  let started = 1;
  const followers = new Set<OnPush>();

  const push = (told: SaleEvent[]) => ({ at: clock.now(), events: told, dropped: 0, cleared: false });

  const sales = seeSales(
    { name, link, clock },
    () => wire,
    (event) => {
      events.push(event);
      for (const onPush of followers) onPush(push([event]), false);
    },
  );
  link.watch(({ name }) => {
    if (name !== 'PING') lastAt = performance.now();
  });

  const holds = holdReads(copy, () => wire);
  let client: { redis: Redis; url: string } | undefined;

  /** A connection of the harness to the Redis that it is led to, past the link. */
  function server(): Redis {
    const to = link.leadsTo();
    if (client?.url === to) return client.redis;
    client?.redis.disconnect();
    const redis = new Redis(to, { retryStrategy: () => 50, commandTimeout: SERVER_LIMIT_MS });
    redis.on('error', () => {});
    client = { redis, url: to };
    return redis;
  }

  /** What it has sold or, where nothing of it is seen, been asked for. */
  const writes = copy.passed ?? sales.writes;

  async function state(): ReturnType<TargetNode['state']> {
    if (isDead) throw new Error(`${name} does not respond.`);
    const sold = writes() - writesBefore;
    return {
      node: name,
      port: Number(new URL(url).port),
      pid: copy.process?.pid() ?? 0,
      instance: `${name}-${started}`,
      lock: 'foreign',
      leaseMs,
      renewEveryMs: 0,
      scope: 'sku',
      retryDelayMs: 0,
      waitTimeoutMs: 10_000,
      permits: 1,
      inFlight: sales.underWay(),
      held: holds.held(),
      waiting: sales.waiting(),
      unreleased: 0,
      answering: 0,
      counts: { received: 0, sold, soldOut: 0, lockTimeout: 0, clientGone: 0, failed: 0, inDoubt: 0 },
      standstills: [],
    };
  }

  async function begin(onPush: OnPush) {
    onPush({ ...push([...events]), state: await state() }, true);
  }

  const processOf = ({ signal, kill, start }: NonNullable<Copy['process']>) => ({
    signal,
    async kill() {
      isDead = true;
      await kill();
    },
    async start() {
      sales.forget();
      holds.cancel();
      events = [];
      started += 1;
      await start();
      isDead = false;
      for (const onPush of followers) await begin(onPush);
    },
  });

  const isNot = (what: string) => async () => {
    throw new Error(no(what));
  };

  return {
    name,
    closeServer: () => client?.redis.disconnect(),
    publicUrl: url,
    loadUrl: copy.loadUrl,
    labUrl: '',
    link,
    sales,
    isUnreadable: copy.isUnreadable,
    lines: copy.lines,
    /** What is learned of the service is known from here on. */
    know(learned: Learned) {
      known = learned;
      wire = wireOf(learned);
    },
    /** Resolves with false when it still sends commands to Redis after so many milliseconds. */
    async untilQuiet(limitMs: number) {
      const isQuiet = await poll(clock, limitMs, async () => performance.now() - lastAt >= QUIET_MS || undefined);
      return isQuiet ?? false;
    },
    ...(copy.process && { process: processOf(copy.process) }),
    state,
    async isSilentFor(limitMs) {
      const isSo = await poll(
        clock,
        Math.max(limitMs, STILL_LIMIT_MS),
        async () => (copy.process && (await isStopped(copy.process.pid()))) || undefined,
      );
      return isSo ?? false;
    },
    // Its lease is that of its stack.
    async setLock() {},
    async script(next) {
      holds.arm(next);
    },
    async resume() {
      holds.letGo();
    },
    async reset() {
      // A sale that nobody waits for any more would be held for ever, and with it the row that it has locked.
      holds.cancel();
      writesBefore = writes();
      events = [];
    },
    history: async () => ({ events: [...events], dropped: 0 }),
    follow(onPush) {
      followers.add(onPush);
      void begin(onPush);
      return { close: () => void followers.delete(onPush) };
    },
    async redis() {
      await mustReach(link.port);
      const commands = [...link.counters.commands.values()].reduce((sum, count) => sum + count, 0);
      return { version: '', server: 'redis', masters: 1, commandsProcessed: commands, lacks: {} };
    },
    heap: isNot('visible heap'),
    server,
    async stock() {
      if (row) return row.read();
      const { stock = '', field } = known ?? {};
      const value = await (field === undefined ? server().get(stock) : server().hget(stock, field));
      return value === null ? undefined : Number(value);
    },
    async setStock(units) {
      if (row) return row.write(units);
      const { stock = '', field } = known ?? {};
      await (field === undefined ? server().set(stock, units) : server().hset(stock, field, units));
    },
    async clear() {
      // What else is in the Redis of others is not ours.
      if (copy.process === undefined) return;
      const keys = wire ? await wire.lockKeysIn(server(), '') : [];
      if (keys.length > 0) await server().del(keys);
    },
    setGuard: isNot('clean-up'),
    scriptTick: isNot('clean-up'),
    tick: isNot('clean-up'),
    ticks: isNot('clean-up'),
    setSchedule: isNot('clean-up'),
    report: isNot('second job'),
  } satisfies TargetNode & Record<string, unknown>;
}

/** Holds the answers to readings of the stock as a script says: a sale that is not told what it has read stays inside. */
function holdReads({ link }: Copy, wire: () => ReturnType<typeof wireOf> | undefined) {
  /** Those that have come, and wait until they are resumed. */
  const waiting = new Set<() => void>();
  let cancelNext = () => {};

  function arm({ untilResumed, pauseMs = 0, times = 1 }: SaleScript) {
    cancelNext();
    cancelNext = () => {};
    const known = wire();
    if (known === undefined || times === 0 || (!untilResumed && pauseMs === 0)) return;
    const hold = link.holdNextReply(known.isStockRead);
    // What is held goes on by `letGo` or in its time, whatever the next script says.
    cancelNext = hold.cancel;
    hold.arrived.then(
      () => {
        if (untilResumed) waiting.add(hold.letGo);
        else setTimeout(hold.letGo, pauseMs);
        arm({ untilResumed, pauseMs, times: times - 1 });
      },
      () => {},
    );
  }

  function letGo() {
    for (const each of waiting) each();
    waiting.clear();
  }

  return {
    arm,
    held: () => waiting.size,
    letGo,
    cancel() {
      cancelNext();
      letGo();
    },
  };
}

/** Rejects when nobody answers behind this port soon. */
async function mustReach(port: number) {
  let probe: ReturnType<Network['probe']> | undefined;
  const heard = new Promise((resolve) => {
    probe = machineNetwork.probe(port, resolve);
  });
  const answer = await Promise.race([heard, sleep(REACH_LIMIT_MS)]);
  probe?.close();
  if (answer !== 'data') throw new Error('Redis does not reply.');
}
