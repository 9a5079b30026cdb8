import { setTimeout as sleep } from 'node:timers/promises';
import { backendOf, hasLock } from '../../locks/index.ts';
import { loadScripts } from '../../scripts/stack/redis.ts';
import type { SaleEvent } from '../../services/inventory/lab/contract.ts';
import { lockKey } from '../../services/inventory/store.ts';
import type { SaleEnd } from '../evidence/answers.ts';
import { type Hold, holdsOf, type StepHistory } from '../evidence/history.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import type { Timeline } from '../evidence/results.ts';
import { type Fault, timelineOf } from '../evidence/timeline.ts';
import { isExternal } from '../staircase/staircase.ts';
import type { Narrate } from './drill.ts';
import { type Crash, createFaults, firstAfterWrite, isRelease } from './faults.ts';
import type { LockTiming, SaleScript } from './lab-client.ts';
import { watchLease } from './lease-watch.ts';
import { createMasterFaults } from './master-faults.ts';
import { sharedClock } from './shared-clock.ts';
import { type RunningSale, sendSale } from './single-sale.ts';
import type { Target, TargetNode } from './target.ts';

/** How often the harness looks whether a step has happened, in milliseconds. */
const LOOK_MS = 5;
/** How long a step may take that no lock delays, in milliseconds. */
const STEP_LIMIT_MS = 5_000;
/** How long the sales of a drill may take to end after it, in milliseconds. */
const SETTLE_LIMIT_MS = 15_000;
const RETRY_DELAY_MS = 10;
const WAIT_TIMEOUT_MS = 10_000;
const SKU = '001';

export type InsideSale = RunningSale & { saleId: string };

export interface TestBedOptions {
  target: Target;
  stage: string;
  timing: LockTiming & { leaseMs: number };
  stock: number;
  narrate: Narrate;
  /** Ends the drill when it aborts. */
  signal?: AbortSignal | undefined;
}

export type TestBed = Awaited<ReturnType<typeof openTestBed>>;

/** Two nodes, ready for a drill that goes step by step: the lock and the stock are set, nothing is left of before. */
export async function openTestBed({ target, stage, timing, stock, narrate, signal }: TestBedOptions) {
  const { nodes, stack } = target;
  const [first, second] = nodes;
  if (first === undefined || second === undefined) throw new Error('A drill needs two nodes.');
  const sales: RunningSale[] = [];
  const marks: Fault[] = [];
  let isOver = false;
  const faults = createFaults({
    nodes,
    stack,
    lockKey: lockKey(SKU, stage),
    isVoted: backendOf(stage) === 'masters',
    onMove: (redisUrl) => watch?.moveTo(redisUrl),
  });
  const masters = createMasterFaults({
    masters: stack?.masters ?? [],
    lockKey: lockKey(SKU, stage),
    onFault: faults.onFault,
  });
  /** Which node an owner token begins with. */
  const instances = new Map<string, string>();

  try {
    for (const node of nodes) {
      await node.setLock(stage, { retryDelayMs: RETRY_DELAY_MS, waitTimeoutMs: WAIT_TIMEOUT_MS, ...timing });
      await node.reset();
      instances.set((await node.state()).instance, node.name);
    }
    await first.clear();
    await first.setStock(stock);
    if (stack) await loadScripts(stack.redis.url);
    await masters.prepare();
  } catch (error) {
    // Whatever of it took effect is taken back.
    for (const node of nodes) await node.setLock(stage).catch(() => {});
    await first.clear().catch(() => {});
    masters.close();
    throw error;
  }
  const startedAt = sharedClock();
  const watch = stack && watchLease(stack.redis.url, lockKey(SKU, stage));

  const live = () => nodes.filter((node) => !faults.crashes.some((crash) => crash.node === node));
  const sinceStart = () => sharedClock() - startedAt;

  /** Events of all nodes, those of killed ones included, in order. */
  async function events(): Promise<SaleEvent[]> {
    const histories = await Promise.all(live().map((node) => node.history()));
    const lastWords = faults.crashes.flatMap(({ events }) => events);
    return [...lastWords, ...histories.flatMap(({ events }) => events)].sort((a, b) => a.at - b.at);
  }

  /** Whoever goes on after the end of the test bed is stopped here: the stack is somebody else's by then. */
  function mustBeOpen() {
    signal?.throwIfAborted();
    if (isOver) throw new Error('The drill is over.');
  }

  /** As the function, for as long as the test bed goes on. */
  function guarded<Args extends unknown[], Result>(act: (...args: Args) => Result) {
    return (...args: Args): Result => {
      mustBeOpen();
      return act(...args);
    };
  }

  /** As `poll`, for as long as the test bed goes on. */
  function waitFor<T>(look: () => Promise<T | undefined>, limitMs: number) {
    return poll(guarded(look), limitMs);
  }

  /** Resolves with undefined when sales are still in flight, or locks on their way back, after the limit. */
  const allEnded = () =>
    poll(async () => {
      const states = await Promise.all(live().map((node) => node.state()));
      return states.every(({ inFlight, unreleased }) => inFlight + unreleased === 0) || undefined;
    }, SETTLE_LIMIT_MS);

  function sell(node: TargetNode): RunningSale {
    const sale = sendSale(node);
    sales.push(sale);
    return sale;
  }

  /** As `sell`, and its client hangs up when it has no answer within the limit. */
  async function sellWithin(node: TargetNode, limitMs: number): Promise<SaleEnd> {
    const sale = sell(node);
    const timer = setTimeout(sale.hangUp, limitMs);
    return sale.end.finally(() => clearTimeout(timer));
  }

  /**
   * Sends a sale that follows the script, and resolves when it is inside. If the lock keeps it out for `limitMs`, its client
   * hangs up, and this resolves with undefined. Throws NotStagedError when it has not stayed inside.
   */
  async function trySellInside(node: TargetNode, script: SaleScript, limitMs: number): Promise<InsideSale | undefined> {
    const before = new Set((await node.history()).events.map(({ saleId }) => saleId));
    await node.script(script);
    const sale = sell(node);
    const own = await waitFor(async () => {
      const { events } = await node.history();
      const saleId = events.find((event) => isInside(event) && !before.has(event.saleId))?.saleId;
      return saleId === undefined ? undefined : { saleId, events: events.filter((event) => event.saleId === saleId) };
    }, limitMs);
    if (own?.events.some(({ type }) => type === 'left')) {
      throw new NotStagedError(`The sale on ${node.name} did not stay inside.`);
    }
    if (own) return { ...sale, saleId: own.saleId };
    sale.hangUp();
    await sale.end;
  }

  /** As `trySellInside`, for a sale that nobody keeps out. Throws NotStagedError when it is not inside in time. */
  async function sellInside(node: TargetNode, script: SaleScript): Promise<InsideSale> {
    const sale = await trySellInside(node, script, STEP_LIMIT_MS);
    if (sale === undefined) throw new NotStagedError(`The sale on ${node.name} did not stay inside.`);
    return sale;
  }

  /**
   * How often a node has tried to get the lock so far: each try is one command. Where nothing is between the node and Redis,
   * all that Redis has done counts.
   */
  async function triesOf(node: TargetNode): Promise<number> {
    const [masterLink] = node.masterLinks ?? [];
    if (backendOf(stage) === 'masters' && masterLink) return masterLink.counters.commands.get('acquire-reentrant') ?? 0;
    if (node.link === undefined) return (await node.redis()).commandsProcessed;
    const { commands } = node.link.counters;
    return ['SET', 'EVALSHA', 'EVAL'].reduce((sum, name) => sum + (commands.get(name) ?? 0), 0);
  }

  /**
   * Marks what the drill does to break things, now or `at` a moment on the shared clock, to a node or to one of its sales. Call
   * `over` when it is over; a moment never is.
   */
  function mark(label: string, hit: { node?: TargetNode; sale?: InsideSale; at?: number } = {}) {
    const node = hit.sale?.node ?? hit.node?.name;
    const fault: Fault = {
      label,
      from: hit.at ?? sharedClock(),
      ...(node !== undefined && { node }),
      ...(hit.sale && { saleId: hit.sale.saleId }),
    };
    marks.push(fault);
    return {
      over() {
        fault.until = sharedClock();
      },
    };
  }

  /** Throws NotStagedError when the sale has left already, or never was inside. */
  async function mustBeInside({ node, saleId }: InsideSale) {
    const own = (await events()).filter((event) => event.node === node && event.saleId === saleId);
    if (!own.some(isInside) || own.some(({ type }) => type === 'left'))
      throw new NotStagedError(`Sale ${saleId} on ${node} was not inside any more.`);
  }

  /** Throws NotStagedError when no sale of this node waits or has waited since `from`: refused is not kept out. */
  async function mustHaveWaited(node: TargetNode, from: number) {
    const own = (await node.history()).events.filter(({ at }) => at >= from);
    const ended = (saleId: string) => own.find((event) => event.saleId === saleId && event.type === 'failed')?.code;
    const waited = own.some(
      ({ type, saleId }) =>
        type === 'waiting' && [undefined, 'CLIENT_GONE', 'LOCK_WAIT_TIMEOUT'].includes(ended(saleId)),
    );
    if (!waited) throw new NotStagedError(`No sale on ${node.name} waited for the lock.`);
  }

  /** How long the lock has to live, in milliseconds, as Redis has just said; `Infinity` without an end or without a key. */
  function leaseLeftMs(): number {
    const seen = watch?.samples.at(-1);
    if (seen?.owner === undefined) return Number.POSITIVE_INFINITY;
    return seen.at + seen.ttlMs - sharedClock();
  }

  /** Ends the drill where it stands: from here on each of its steps is refused, and its clients hang up. */
  function stop() {
    isOver = true;
    for (const sale of sales) sale.hangUp();
  }

  /** Waits until every sale has ended, and resolves with what is left. Throws NotStagedError when some never end. */
  async function outcome(): Promise<StepHistory> {
    const ends = await Promise.all(sales.map(({ end }) => end));
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
    const crashes = [...faults.crashes];
    stop();
    await watch?.close();
    await faults.undoAll();
    for (const node of nodes) await node.resume();
    if (!(await allEnded())) throw new Error('Sales of the drill were still in flight after it.');

    const happened = [...crashes.flatMap(({ events }) => events), ...(await events())]
      .filter(({ at }) => at <= until)
      .sort((a, b) => a.at - b.at);
    const timeline = timelineOf({
      from: startedAt,
      until,
      events: [...happened, ...crashes.flatMap((crash) => deathsOf(crash))],
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
    await first?.clear();
    await masters.clear();
    return { timeline, events: happened };
  }

  /** How many masters have voted for a sale of this node, as they say themselves. */
  async function votesFor(node: TargetNode): Promise<number> {
    return (await masters.votes()).filter((token) => ownerOf(token)?.node === node.name).length;
  }

  function ownerOf(token: string) {
    const [instance = '', saleId = ''] = token.split(':');
    const node = instances.get(instance);
    return node === undefined ? undefined : { node, saleId };
  }

  return {
    stage,
    leaseMs: timing.leaseMs,
    initialStock: stock,
    /** What a sale that is inside has done so far. */
    soFar: hasLock(stage) ? 'holds the lock and has read the stock' : 'is under way',
    first,
    second,
    redisKind: target.redis.kind,
    /** Tells a step, and waits for the audience: nothing that comes next may depend on how long that takes. */
    step: guarded((sentence: string) => narrate(sentence, sinceStart(), true)),
    /** Tells what happens, and goes on at once. */
    say: guarded((sentence: string) => narrate(sentence, sinceStart(), false)),
    mark,
    sell: guarded(sell),
    sellWithin: guarded(sellWithin),
    sellInside: guarded(sellInside),
    trySellInside: guarded(trySellInside),
    pause: guarded(faults.pause),
    kill: guarded(faults.kill),
    holdOnItsWay: guarded(faults.holdOnItsWay),
    restore: guarded(faults.restore),
    stopRedis: guarded(faults.stopRedis),
    killRedis: guarded(faults.killRedis),
    startReplica: guarded(faults.startReplica),
    masterCount: masters.count,
    votesFor,
    freezeMaster: guarded(masters.freeze),
    forgetMaster: guarded(masters.forget),
    cutMasters: guarded(masters.cut),
    delayMasters: guarded(masters.delay),
    heardByMasters: masters.heard,
    triesOf,
    mustBeInside: guarded(mustBeInside),
    mustHaveWaited: guarded(mustHaveWaited),
    leaseLeftMs,
    /** The command by which a holder gives its lock up. */
    releaseCommand: () => (isExternal(stage) ? firstAfterWrite(lockKey(SKU, stage)) : isRelease),
    events,
    holds: async () => holdsOf(await events()),
    waitFor,
    outcome: guarded(outcome),
    stop,
    /** As `putBack`. However it ends, no connection of the test bed's own is left. */
    close: (isJudged?: (hold: Hold) => boolean) => putBack(isJudged).finally(masters.close),
  };
}

/** Looks again and again until `look` finds something. Resolves with undefined when `limitMs` has passed. */
export async function poll<T>(look: () => Promise<T | undefined>, limitMs: number): Promise<T | undefined> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const found = await look();
    if (found !== undefined || performance.now() > deadline) return found;
    await sleep(LOOK_MS);
  }
}

/** A sale under a lock has read the stock by the time it can be broken; one without a lock reads it in its only step. */
function isInside({ type }: SaleEvent) {
  return type === 'read' || type === 'began';
}

/** The holders that died with their node: they are inside no more, and never left. */
function deathsOf({ node, at, events }: Crash): SaleEvent[] {
  const inside = holdsOf(events).filter(({ left }) => left === Number.POSITIVE_INFINITY);
  return inside.map(({ saleId }) => ({ at, type: 'left', node: node.name, saleId }));
}
