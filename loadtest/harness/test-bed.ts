// The ground of a drill that goes step by step: two nodes made ready, ways to break them, and the way back.

import { hasLock } from '../../locks/index.ts';
import type { SaleEvent } from '../../services/inventory/lab/contract.ts';
import { lockKey } from '../../services/inventory/store.ts';
import { type Hold, holdsOf, type StepHistory } from '../evidence/history.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import type { Timeline } from '../evidence/results.ts';
import { type Fault, timelineOf } from '../evidence/timeline.ts';
import { backendOfRow, isExternal } from '../staircase/lookup.ts';
import { sharedClock, sleep } from './clock.ts';
import type { Narrate } from './drill.ts';
import { createFaults } from './faults.ts';
import type { LockTiming } from './lab-client.ts';
import { watchLease } from './lease-watch.ts';
import { readLeftKeys } from './left-keys.ts';
import { createMasterFaults } from './master-faults.ts';
import { network } from './network.ts';
import type { Observe } from './observed.ts';
import { poll } from './poll.ts';
import type { Target, TargetNode } from './target.ts';
import { createWatchedSales, type InsideSale } from './watched-sales.ts';

/** How long a step may take that no lock delays, in milliseconds. */
const STEP_LIMIT_MS = 5_000;
/** How long the sales of a drill may take to end after it, in milliseconds. */
const SETTLE_LIMIT_MS = 15_000;
/** A server other than Redis can't be asked how far it has come: a request takes a small part of this time, in milliseconds. */
const OTHER_SERVER_MS = 100;
const RETRY_DELAY_MS = 20;
const WAIT_TIMEOUT_MS = 10_000;
const SKU = '001';

export interface TestBedOptions {
  target: Target;
  stage: string;
  timing: LockTiming & { leaseMs: number };
  stock: number;
  narrate: Narrate;
  /** Ends the drill when it aborts. */
  signal?: AbortSignal | undefined;
  /** Called once the test bed is ready, for somebody who watches. */
  observe?: Observe | undefined;
}

export type TestBed = Awaited<ReturnType<typeof openTestBed>>;

/** Two nodes, ready for a drill that goes step by step: the lock and the stock are set, nothing is left of before. */
export async function openTestBed(options: TestBedOptions) {
  const { target, stage, timing, stock, narrate, signal, observe } = options;
  const { nodes, stack } = target;
  const [first, second] = nodes;
  if (first === undefined || second === undefined) throw new Error('A drill needs two nodes.');
  const marks: Fault[] = [];
  const skus = [SKU];
  let isOver = false;
  /** When the drill itself had a node stand still. */
  const staged: Fault[] = [];
  let nodesStandstillMs = 0;
  /** Redis itself was made to fail. */
  let isRedisBroken = false;
  const isVoted = backendOfRow(stage) === 'masters';
  const faults = createFaults({
    nodes,
    stack,
    backend: backendOfRow(stage),
    onMove: (redisUrl) => watch?.moveTo(redisUrl),
  });
  let endedAt: number | undefined;
  const masters = createMasterFaults({
    nodes,
    masters: stack?.masters ?? [],
    lockKey: lockKey(SKU, stage),
    lend: faults.lendClock,
    onFault: faults.onFault,
  });
  /** Which node an owner token begins with. */
  const instances = new Map<string, string>();

  /** Sets the lock of a node that runs since just now. */
  async function setUp(node: TargetNode) {
    // Whoever waits is there when the lease ends.
    const waitTimeoutMs = Math.max(WAIT_TIMEOUT_MS, timing.leaseMs);
    await node.setLock(stage, { retryDelayMs: RETRY_DELAY_MS, waitTimeoutMs, ...timing });
    instances.set((await node.state()).instance, node.name);
  }

  try {
    for (const node of nodes) {
      await setUp(node);
      await node.reset();
    }
    await first.clear();
    await first.setStock(stock);
    if (stack) await network().loadScripts(stack.redis.url);
    await masters.prepare();
  } catch (error) {
    // What took effect of it is taken back.
    for (const node of nodes) await node.setLock(stage).catch(() => {});
    await first.clear().catch(() => {});
    masters.close();
    throw error;
  }
  const tries = countTries(nodes, (node) => (isVoted ? node.masterLinks?.[0] : node.link), lockKey(SKU, ''));
  faults.onFault(tries.end);
  const watch = stack && watchLease(stack.redis.url, lockKey(SKU, stage));
  // From its first step on the drill is looked at.
  if (watch) await poll(async () => watch.samples.length > 0 || undefined, STEP_LIMIT_MS);
  const startedAt = sharedClock();

  const live = () => nodes.filter((node) => !faults.isDead(node));
  const sinceStart = () => sharedClock() - startedAt;

  /** Events of all nodes, those of processes that died included, in order. */
  async function events(): Promise<SaleEvent[]> {
    const histories = await Promise.all(live().map((node) => node.history()));
    const lastWords = faults.crashes.flatMap(({ events }) => events);
    return [...lastWords, ...histories.flatMap(({ events }) => events)].sort((a, b) => a.at - b.at);
  }

  /** A step that comes after the end of the test bed is stopped here: another drill may have the stack by then. */
  function mustBeOpen() {
    signal?.throwIfAborted();
    if (isOver) throw new Error('The drill is over.');
  }

  /** The function for as long as the test bed goes on; afterwards each call throws. */
  function guarded<Args extends unknown[], Result>(act: (...args: Args) => Result) {
    return (...args: Args): Result => {
      mustBeOpen();
      return act(...args);
    };
  }

  /**
   * Looks again and again until `look` finds something. Resolves with undefined when `limitMs` has passed, and rejects when the
   * test bed ends before.
   */
  function waitFor<T>(look: () => Promise<T | undefined>, limitMs: number) {
    return poll(guarded(look), limitMs);
  }

  const sales = createWatchedSales({ events, waitFor });

  /** Starts a node that was killed, under the lock of the drill. */
  async function revive(node: TargetNode) {
    await faults.revive(node);
    await setUp(node);
  }

  /** Undoes all that was broken so far, and lets go on what is held. What has happened is kept. */
  async function mend() {
    const dead = nodes.filter(faults.isDead);
    await faults.undoAll();
    for (const node of dead) await setUp(node);
    await resumeAll();
  }

  async function resumeAll() {
    for (const node of nodes) await node.resume();
  }

  /** Resolves with undefined when sales are still in flight, or locks on their way back, after the limit. `help` comes before each look. */
  const allEnded = (help = async () => {}) =>
    poll(async () => {
      await help();
      const states = await Promise.all(live().map((node) => node.state()));
      return states.every(({ inFlight, unreleased }) => inFlight + unreleased === 0) || undefined;
    }, SETTLE_LIMIT_MS);

  /**
   * How often a node has tried to get the lock so far: each command that names the lock's key is a try. Where nothing is between
   * the node and Redis, all that Redis has done counts.
   */
  async function triesOf(node: TargetNode): Promise<number> {
    const [masterLink] = node.masterLinks ?? [];
    if (isVoted && masterLink && !isExternal(stage)) return masterLink.counters.commands.get('acquire-reentrant') ?? 0;
    if ((isVoted ? masterLink : node.link) === undefined) return (await node.redis()).commandsProcessed;
    return tries.of(node);
  }

  /**
   * Resolves when what a sale that waits on this node has asked of its lock has come there: where it stands in a queue, if there
   * is one, is settled.
   */
  async function hasAsked(node: TargetNode) {
    // Over the same connection, on which Redis answers in order.
    await node.redis();
    if (backendOfRow(stage) !== 'redis') await sleep(OTHER_SERVER_MS);
  }

  /**
   * Marks what the drill does to break things, now or `at` a moment on the shared clock, to a node or to one of its sales. Call
   * `over` when it is over; a moment never is. `standsStill`: the process of the node comes to nothing meanwhile.
   */
  function mark(label: string, hit: { node?: TargetNode; sale?: InsideSale; at?: number; standsStill?: boolean } = {}) {
    const node = hit.sale?.node ?? hit.node?.name;
    const fault: Fault = {
      label,
      from: hit.at ?? sharedClock(),
      ...(node !== undefined && { node }),
      ...(hit.sale && { saleId: hit.sale.saleId }),
    };
    marks.push(fault);
    if (hit.standsStill) staged.push(fault);
    return {
      over() {
        fault.until = sharedClock();
      },
    };
  }

  /** How long the lock has to live, in milliseconds, as Redis has just said; `Infinity` without an end or without a key. */
  function leaseLeftMs(): number {
    const seen = watch?.samples.at(-1);
    if (seen?.owner === undefined) return Number.POSITIVE_INFINITY;
    return seen.at + seen.ttlMs - sharedClock();
  }

  /** Puts another sku into the shop, with as many units in stock. It is gone when the test bed is closed. */
  async function addSku(sku: string) {
    skus.push(sku);
    await first?.setStock(stock, sku);
  }

  /** Marks that Redis is made to fail, and makes it. */
  function breaking<Result>(act: () => Result) {
    return guarded(() => {
      isRedisBroken = true;
      return act();
    });
  }

  /**
   * For how long Redis, the harness or a node came to nothing at worst, in milliseconds, as far as it was no fault of the drill. On a
   * machine that has enough time, a few. Of the nodes it is known when the test bed is closed.
   */
  const standstillMs = () => Math.max(isRedisBroken ? 0 : (watch?.standstillMs() ?? 0), nodesStandstillMs);

  /** The same while the drill goes on. */
  const standstillSoFarMs = async () => Math.max(standstillMs(), await worstOfNodes(sharedClock()));

  /** The worst standstill of a node from the beginning of the drill until then, without what the drill had it stand still for. */
  async function worstOfNodes(until: number): Promise<number> {
    const states = await Promise.all(live().map((node) => node.state()));
    const unplanned = states.flatMap(({ node, standstills }) =>
      standstills
        .filter((standstill) => standstill.until > startedAt && standstill.from < until)
        .map(
          ({ ms, ...span }) =>
            ms -
            sharedMs(
              span,
              staged.filter((fault) => fault.node === node),
            ),
        ),
    );
    return Math.max(0, ...unplanned);
  }

  /** Ends the drill where it stands: from here on each of its steps is refused, and its clients hang up. */
  function stop() {
    isOver = true;
    sales.hangUp();
  }

  /** Waits until every sale has ended, and resolves with what is left. Throws NotStagedError when some never end. */
  async function outcome(): Promise<StepHistory> {
    const ends = await sales.ends();
    if (!(await allEnded())) throw new NotStagedError('Sales were still in flight at the end.');
    // A node whose line was cut needs a moment to connect again.
    const finalStock = await waitFor(
      async () =>
        live()[0]
          ?.stock()
          .catch(() => undefined),
      STEP_LIMIT_MS,
    );
    if (finalStock === undefined) throw new NotStagedError('The final stock could not be read.');
    return { ends, initialStock: stock, finalStock, events: await events(), startedAt };
  }

  /**
   * Brings the stack back to what it was: every process runs, nothing is held, nobody is inside, no key is left. Resolves
   * with what happened until then; overlaps are drawn of the holders that are judged.
   */
  async function putBack(isJudged?: (hold: Hold) => boolean): Promise<{ timeline: Timeline; events: SaleEvent[] }> {
    const until = sharedClock();
    endedAt = until;
    stop();
    await watch?.close();
    await faults.undoAll();
    // A sale that comes to its hold only now is let go, too.
    if (!(await allEnded(resumeAll))) throw new Error('Sales of the drill were still in flight after it.');

    nodesStandstillMs = await worstOfNodes(until);
    const happened = (await events()).filter(({ at }) => at <= until);
    const timeline = timelineOf({
      from: startedAt,
      until,
      events: happened,
      deaths: deaths(),
      ...(isJudged && { isJudged }),
      samples: watch?.samples ?? [],
      ownerOf,
      faults: marks,
    });
    for (const node of nodes) {
      await poll(() => node.redis().catch(() => undefined), STEP_LIMIT_MS);
      await node.setLock(stage);
      await node.reset();
    }
    for (const sku of skus) await first?.clear(sku);
    await masters.clear();
    return { timeline, events: happened };
  }

  const deaths = () => faults.crashes.map(({ node, at }) => ({ node: node.name, at }));

  /**
   * Gives the lock a server whose wall clock can be set ahead: the last master of a bare majority where masters vote, else Redis, with
   * the stock in it. Throws NotStagedError.
   */
  async function lendClock() {
    if (masters.count > 0 && backendOfRow(stage) === 'masters') {
      return masters.lendClock(Math.floor(masters.count / 2), nodes);
    }
    const clock = await faults.lendClockOfRedis();
    await first?.setStock(stock);
    return clock;
  }

  /**
   * How many masters have voted for a sale of this node, as they say themselves. What an external lock keeps there names no node: every
   * vote counts, so that no other node may ask meanwhile.
   */
  async function votesFor(node: TargetNode): Promise<number> {
    const given = (await masters.votes()).filter((token) => token !== 'nobody' && token !== 'silent');
    return given.filter((token) => isExternal(stage) || ownerOf(token)?.node === node.name).length;
  }

  function ownerOf(token: string) {
    const [instance = '', saleId = ''] = token.split(':');
    const node = instances.get(instance);
    return node === undefined ? undefined : { node, saleId };
  }

  observe?.({
    startedAt,
    endedAt: () => endedAt,
    faults: marks,
    deaths,
    samples: () => watch?.samples ?? [],
    ownerOf,
    stock,
  });
  return {
    stage,
    leaseMs: timing.leaseMs,
    initialStock: stock,
    /** What a sale that is inside has done so far. */
    soFar: hasLock(stage) ? 'holds the lock and has read the stock' : 'is under way',
    first,
    second,
    redisKind: target.redis.kind,
    /** Narrates a step, and waits for the audience: nothing that comes next may depend on how long that takes. */
    step: guarded((sentence: string) => narrate(sentence, sinceStart(), true)),
    /** Narrates what happens, and goes on at once. */
    say: guarded((sentence: string) => narrate(sentence, sinceStart(), false)),
    mark,
    look: guarded(sales.look),
    addSku: guarded(addSku),
    sell: guarded(sales.sell),
    sellBasket: guarded(sales.sellBasket),
    sellWithin: guarded(sales.sellWithin),
    sellInside: guarded(sales.sellInside),
    trySellInside: guarded(sales.trySellInside),
    pause: guarded(faults.pause),
    kill: guarded(faults.kill),
    runClock: guarded(faults.runClock),
    revive: guarded(revive),
    mend: guarded(mend),
    holdOnItsWay: guarded(faults.holdOnItsWay),
    holdNext: guarded(faults.holdNext),
    delayAnswers: guarded(faults.delayAnswers),
    watchCommands: guarded(faults.watchCommands),
    cutOff: guarded(faults.cutOff),
    restore: guarded(faults.restore),
    stopRedis: breaking(faults.stopRedis),
    killRedis: breaking(faults.killRedis),
    startReplica: guarded(faults.startReplica),
    lendClock: guarded(lendClock),
    masterCount: backendOfRow(stage) === 'masters' ? masters.count : 0,
    votesFor,
    freezeMaster: guarded(masters.freeze),
    forgetMaster: guarded(masters.forget),
    cutMasters: guarded(masters.cut),
    delayMasters: guarded(masters.delay),
    triesOf,
    hasAsked: guarded(hasAsked),
    mustBeInside: guarded(sales.mustBeInside),
    mustHaveWaited: guarded(sales.mustHaveWaited),
    mustBeUnconfirmed: guarded(sales.mustBeUnconfirmed),
    leaseLeftMs,
    standstillMs,
    standstillSoFarMs,
    /** The keys that are in Redis besides the stock. None where Redis is not of this run. */
    keysLeft: guarded(async () => (stack ? readLeftKeys(stack.redis.url) : [])),
    events,
    holds: async () => holdsOf(await events()),
    waitFor,
    outcome: guarded(outcome),
    stop,
    /** Brings the stack back to what it was, and resolves with what happened. However that ends, the test bed keeps no connection. */
    close: (isJudged?: (hold: Hold) => boolean) => putBack(isJudged).finally(masters.close),
  };
}

/** How long a span and these faults have in common, in milliseconds. */
function sharedMs(span: { from: number; until: number }, faults: Fault[]): number {
  return faults.reduce((sum, { from, until = Number.POSITIVE_INFINITY }) => {
    return sum + Math.max(0, Math.min(until, span.until) - Math.max(from, span.from));
  }, 0);
}

/** Counts the commands of each node that name this key, on the line to where its lock is. */
function countTries(nodes: TargetNode[], linkOf: (node: TargetNode) => TargetNode['link'], key: string) {
  const counts = new Map<TargetNode, number>();
  const ends = nodes.map((node) =>
    linkOf(node)?.watch(({ args }) => {
      if (args.some((arg) => arg.includes(key))) counts.set(node, (counts.get(node) ?? 0) + 1);
    }),
  );
  return {
    of: (node: TargetNode) => counts.get(node) ?? 0,
    end() {
      for (const end of ends) end?.();
    },
  };
}
