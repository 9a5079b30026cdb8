// The test bed of a scenario: prepares two nodes, sends their sales, follows their events, breaks them, and restores them.

import type { LockTiming } from '../../services/inventory/sale/contract.ts';
import type { Hold, StepHistory } from '../evidence/history.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import { timelineOf } from '../evidence/timeline.ts';
import { formatDuration } from '../narration/numbers.ts';
import type { StepSentence } from '../narration/steps.ts';
import { backendOfRow } from '../staircase/lookup.ts';
import { poll } from './clock.ts';
import type { DrillContext } from './drill.ts';
import { createFaults } from './faults/faults.ts';
import { watchLease } from './lease-watch.ts';
import { seeLock } from './lock-seen.ts';
import { createMarks } from './marks.ts';
import { followNodes } from './record.ts';
import { openSales } from './sales.ts';
import type { TargetNode } from './target.ts';

/** How long a step may take when no lock delays it, in milliseconds. */
export const STEP_LIMIT_MS = 5_000;
/** How long the sales of a drill may take to end after it, in milliseconds. */
const SETTLE_LIMIT_MS = 15_000;
const RETRY_DELAY_MS = 20;
const WAIT_TIMEOUT_MS = 10_000;
const SKU = '001';
/** Whatever the environment of the nodes says. */
const usualScope = { scope: 'sku' } as const;
/** The response to a sale when no replica has confirmed its lock or its write. */
export const NOT_REPLICATED = 'NOT_REPLICATED';

export interface TestBedOptions extends Pick<DrillContext, 'target' | 'stage' | 'narrate' | 'observe'> {
  timing: LockTiming & { leaseMs: number };
  stock: number;
  /** Ends the drill when it aborts. */
  signal?: AbortSignal | undefined;
}

export type TestBed = Awaited<ReturnType<typeof openTestBed>>;

/** Two nodes, ready for a drill that goes step by step: the lock and the stock are set, nothing is left of before. */
export async function openTestBed(options: TestBedOptions) {
  const { target, stage, timing, stock, narrate, signal, observe } = options;
  const { nodes, stack, clock } = target;
  const [first, second] = nodes as [TargetNode, TargetNode];
  const marks = createMarks(target);
  const skus = [SKU];
  /** Which node an owner token begins with. */
  const instances = new Map<string, string>();
  let endedAt: number | undefined;
  let finalStock: number | undefined;
  const faults = createFaults(target, {
    stage,
    backend: backendOfRow(stage),
    onMove: (url) => watch?.moveTo(url),
    beforeKill: (node) => record.catchUp([node]),
  });

  /** Sets the lock of a node that runs since just now. */
  async function setUp(node: TargetNode) {
    // Whoever waits is there when the lease ends.
    const waitTimeoutMs = Math.max(WAIT_TIMEOUT_MS, timing.leaseMs);
    await node.setLock(stage, { ...usualScope, retryDelayMs: RETRY_DELAY_MS, waitTimeoutMs, ...timing });
    instances.set((await node.state()).instance, node.name);
  }

  try {
    for (const node of nodes) {
      await setUp(node);
      await node.reset();
    }
    await first.clear();
    await first.setStock(stock);
    await faults.prepare();
  } catch (error) {
    // What took effect of it is taken back.
    for (const node of nodes) await node.setLock(stage, usualScope).catch(() => {});
    await first.clear().catch(() => {});
    faults.close();
    throw error;
  }
  const record = followNodes(target, { mustGoOn: mustBeOpen, isDead: faults.isDead });
  signal?.addEventListener('abort', record.ring);
  const lock = seeLock({ target, stage, leaseMs: timing.leaseMs, onTry: record.ring, votes: faults.votes, ownerOf });
  const sales = openSales(target, mustBeOpen, record.ring);
  const watch = stack && watchLease(target, stack.redis.url, target.wire.lockKey(stage));

  /** The test bed keeps no connection. */
  async function letGo() {
    signal?.removeEventListener('abort', record.ring);
    lock.close();
    await watch?.close();
    record.close();
    faults.close();
  }

  await record.begin().catch(async (error) => {
    await letGo();
    throw error;
  });
  const startedAt = clock.now();

  const live = () => nodes.filter((node) => !faults.isDead(node));

  /** A step that comes after the end of the test bed is stopped here: another drill may have the stack by then. */
  function mustBeOpen() {
    signal?.throwIfAborted();
    if (endedAt !== undefined) throw new Error('The drill is over.');
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
    poll(clock, SETTLE_LIMIT_MS, async () => {
      await help();
      const states = await Promise.all(live().map((node) => node.state()));
      return states.every(({ inFlight, unreleased }) => inFlight + unreleased === 0) || undefined;
    });

  /**
   * For how long Redis, the harness or a node came to nothing at worst until then, in milliseconds, without what the drill had it stand
   * still for. On a machine that has enough time, a few.
   */
  async function standstillMs(until: number): Promise<number> {
    const states = await Promise.all(live().map((node) => node.state()));
    const ofNodes = states.flatMap(({ node, standstills }) => {
      return standstills
        .filter((standstill) => standstill.until > startedAt && standstill.from < until)
        .map(({ ms, ...span }) => ms - marks.stagedMs(node, span));
    });
    return Math.max(faults.isRedisBroken() ? 0 : (watch?.standstillMs() ?? 0), ...ofNodes);
  }

  /** Throws NotStagedError when nothing ran for so long, in milliseconds, that the machine may be the reason why something was late. */
  async function mustHaveGoneOn(mostMs: number) {
    const ms = await standstillMs(clock.now());
    if (ms < mostMs) return;
    throw new NotStagedError(`The machine was too busy: nothing ran for ${formatDuration(ms)}.`);
  }

  /** Ends the drill where it stands: from here on each of its steps is refused, and its clients disconnect. */
  function stop() {
    endedAt ??= clock.now();
    record.ring();
    sales.hangUp();
  }

  /** Waits until every sale has ended, and resolves with what is left. Throws NotStagedError when some never end. */
  async function outcome(): Promise<StepHistory> {
    const ends = await Promise.all(sales.all.map(({ end }) => end));
    if (!(await allEnded())) throw new NotStagedError('Sales were still in flight at the end.');
    await record.catchUp();
    // A node whose line was cut needs a moment to connect again.
    const read = async () =>
      live()[0]
        ?.stock()
        .catch(() => undefined);
    finalStock = await record.waitFor(read, STEP_LIMIT_MS);
    if (finalStock === undefined) throw new NotStagedError('The final stock could not be read.');
    return { ends, initialStock: stock, finalStock, events: [...record.events()], startedAt };
  }

  /**
   * Brings the stack back to what it was: every process runs, nothing is held, nobody is inside, no key is left. Resolves
   * with what happened until then; overlaps are drawn of the holders that are judged.
   */
  async function putBack(isJudged?: (hold: Hold) => boolean) {
    stop();
    const until = endedAt ?? clock.now();
    await watch?.close();
    await faults.undoAll();
    // A sale that comes to its hold only now is let go, too.
    if (!(await allEnded(resumeAll))) throw new Error('Sales of the drill were still in flight after it.');

    const worstMs = await standstillMs(until);
    const events = record.events().filter(({ at }) => at <= until);
    const seen = { events, deaths: faults.deaths, samples: watch?.samples ?? [], faults: marks.all };
    const timeline = timelineOf({ from: startedAt, until, ownerOf, ...seen, ...(isJudged && { isJudged }) });
    for (const node of nodes) {
      await poll(clock, STEP_LIMIT_MS, () => node.redis().catch(() => undefined));
      await node.setLock(stage, usualScope);
      await node.reset();
    }
    for (const sku of skus) await first.clear(sku);
    await poll(clock, STEP_LIMIT_MS, () => faults.clearVotes().catch(() => undefined));
    return { timeline, deeds: marks.all.map(({ what }) => what), events, standstillMs: worstMs };
  }

  function ownerOf(token: string) {
    const [instance = '', saleId = ''] = token.split(':');
    const node = instances.get(instance);
    return node === undefined ? undefined : { node, saleId };
  }

  observe?.({
    startedAt,
    endedAt: () => endedAt,
    faults: marks.all,
    samples: () => watch?.samples ?? [],
    stock,
    finalStock: () => finalStock,
  });
  return {
    clock,
    stage,
    leaseMs: timing.leaseMs,
    initialStock: stock,
    first,
    second,
    redisKind: target.redis.kind,
    wire: target.wire,
    record,
    faults,
    sales,
    lock,
    mark: marks.mark,
    /** Narrates what happens, and returns at once. After a step it waits for the audience, and nothing may depend on how long that takes. */
    async say(sentence: StepSentence, isStep = false, line?: string) {
      mustBeOpen();
      await narrate(sentence, clock.now() - startedAt, isStep, line);
    },
    /** Puts another sku into the shop, with as many units in stock. It is gone when the test bed is closed. */
    async addSku(sku: string) {
      skus.push(sku);
      await first.setStock(stock, sku);
    },
    mend,
    mustHaveGoneOn,
    outcome,
    stop,
    /** Brings the stack back to what it was, and resolves with what happened. However that ends, it lets go. */
    close: (isJudged?: (hold: Hold) => boolean) => putBack(isJudged).finally(letGo),
  };
}
