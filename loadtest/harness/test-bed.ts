// The ground of a scenario: two nodes made ready, their sales, what they tell, ways to break them, and the way back.

import { hasLock } from '../../locks/index.ts';
import type { LockTiming } from '../../services/inventory/sale/contract.ts';
import { lockKey } from '../../services/inventory/servers/store.ts';
import { type Hold, holdsOf, type SaleName, type StepHistory } from '../evidence/history.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import { type Fault, timelineOf } from '../evidence/timeline.ts';
import type { Deed } from '../narration/faults.ts';
import { formatDuration } from '../narration/numbers.ts';
import type { StepSentence } from '../narration/steps.ts';
import { backendOfRow, isExternal } from '../staircase/lookup.ts';
import { poll } from './clock.ts';
import type { DrillContext } from './drill.ts';
import { createFaults, isRelease } from './faults.ts';
import { readLeftKeys, watchLease } from './lease-watch.ts';
import { followNodes } from './record.ts';
import { type RunningSale, sendSale } from './sales.ts';
import type { TargetNode } from './target.ts';

/** How long a step may take that no lock delays, in milliseconds. */
export const STEP_LIMIT_MS = 5_000;
/** How long the sales of a drill may take to end after it, in milliseconds. */
const SETTLE_LIMIT_MS = 15_000;
/**
 * A server other than Redis can't be asked how far it has come: a request takes a small part of this time, in milliseconds. It is a tenth of
 * a lease at most, since a page may wait so more than once in one.
 */
const OTHER_SERVER_MS = 100;
const RETRY_DELAY_MS = 20;
const WAIT_TIMEOUT_MS = 10_000;
const SKU = '001';
/** The answer to a sale when no replica has confirmed its lock, or its write. */
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
  const { nodes, stack, clock, network } = target;
  const [first, second] = nodes as [TargetNode, TargetNode];
  const backend = backendOfRow(stage);
  const marks: Fault[] = [];
  /** When the drill itself had a node stand still. */
  const staged: Fault[] = [];
  const skus = [SKU];
  const sales: RunningSale[] = [];
  const others: { hangUp(): void }[] = [];
  /** Which node an owner token begins with. */
  const instances = new Map<string, string>();
  let endedAt: number | undefined;
  let finalStock: number | undefined;
  const faults = createFaults(target, {
    backend,
    lockKey: lockKey(SKU, stage),
    onMove: (url) => watch?.moveTo(url),
    beforeKill: (node) => record.catchUp(node),
  });

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
    await faults.prepare();
  } catch (error) {
    // What took effect of it is taken back.
    for (const node of nodes) await node.setLock(stage).catch(() => {});
    await first.clear().catch(() => {});
    faults.close();
    throw error;
  }
  const record = followNodes(target, mustBeOpen);
  signal?.addEventListener('abort', record.ring);
  /** How often each node has tried to get the lock: each command that names its key, on the line to where it is, and is no release. */
  const tries = new Map<TargetNode, number>();
  const unwatch = nodes.map((node) =>
    (backend === 'masters' ? node.masterLinks?.[0] : node.link)?.watch((command) => {
      if (isRelease(command) || !command.args.some((arg) => arg.includes(lockKey(SKU, '')))) return;
      tries.set(node, (tries.get(node) ?? 0) + 1);
      record.ring();
    }),
  );
  const watch = stack && watchLease(target, stack.redis.url, lockKey(SKU, stage));

  /** The test bed keeps no connection. */
  async function letGo() {
    signal?.removeEventListener('abort', record.ring);
    for (const end of unwatch) end?.();
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

  /** What no event tells is looked at again and again. Resolves with undefined after the limit. */
  const waitFor = <T>(look: () => Promise<T | undefined>, limitMs: number) =>
    poll(clock, limitMs, () => {
      mustBeOpen();
      return look();
    });

  function begin<Sale extends { end: Promise<unknown>; hangUp(): void }>(send: () => Sale): Sale {
    mustBeOpen();
    const sale = send();
    others.push(sale);
    void sale.end.then(record.ring);
    return sale;
  }

  /** Sends a sale to a node. `name`: its letter, if it has one. */
  function sell(node: TargetNode, name?: string): RunningSale {
    const sale = begin(() => sendSale(target, node, name));
    sales.push(sale);
    return sale;
  }

  const ofNode = ({ name }: TargetNode) => record.events().filter(({ node }) => node === name);

  /** Throws NotStagedError when no sale of this node waits or has waited since `from`: refused is not kept out. */
  async function mustHaveWaited(node: TargetNode, from: number) {
    await record.catchUp(node);
    const own = ofNode(node).filter(({ at }) => at >= from);
    const ended = (saleId: string) => own.find((event) => event.saleId === saleId && event.type === 'failed')?.code;
    const waited = own.some(
      ({ type, saleId }) =>
        type === 'waiting' && [undefined, 'CLIENT_GONE', 'LOCK_WAIT_TIMEOUT'].includes(ended(saleId)),
    );
    if (!waited) throw new NotStagedError(`No sale on ${node.name} waited for the lock.`);
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
   * Resolves when what a sale that waits on this node has asked of its lock has come there: where it stands in a queue, if there
   * is one, is settled.
   */
  async function hasAsked(node: TargetNode) {
    // Over the same connection, on which Redis answers in order.
    await node.redis();
    if (backend !== 'redis') await clock.sleep(Math.min(OTHER_SERVER_MS, timing.leaseMs / 10));
  }

  /**
   * Marks what the drill does to break things, now or `at` a moment on the shared clock, to a node or to one of its sales. Call
   * `over` when it is over; a moment never is. `standsStill`: the process of the node comes to nothing meanwhile.
   */
  function mark(what: Deed, hit: { node?: TargetNode; sale?: SaleName; at?: number; standsStill?: boolean } = {}) {
    const node = hit.sale?.node ?? hit.node?.name;
    const fault: Fault = {
      what,
      from: hit.at ?? clock.now(),
      ...(node !== undefined && { node }),
      ...(hit.sale && { saleId: hit.sale.saleId }),
    };
    marks.push(fault);
    if (hit.standsStill) staged.push(fault);
    const event = { kind: 'fault' as const, what, node, sale: hit.sale?.saleId };
    target.tell?.({ ...event, is: 'begun' });
    return {
      over() {
        fault.until = clock.now();
        target.tell?.({ ...event, is: 'over' });
      },
    };
  }

  /**
   * For how long Redis, the harness or a node came to nothing at worst until then, in milliseconds, without what the drill had it stand
   * still for. On a machine that has enough time, a few.
   */
  async function standstillMs(until: number): Promise<number> {
    const states = await Promise.all(live().map((node) => node.state()));
    const ofNodes = states.flatMap(({ node, standstills }) => {
      const own = staged.filter((fault) => fault.node === node);
      return standstills
        .filter((standstill) => standstill.until > startedAt && standstill.from < until)
        .map(({ ms, ...span }) => ms - sharedMs(span, own));
    });
    return Math.max(faults.isRedisBroken() ? 0 : (watch?.standstillMs() ?? 0), ...ofNodes);
  }

  /** Throws NotStagedError when nothing went on for so long, in milliseconds, that the machine may be why something came late. */
  async function mustHaveGoneOn(mostMs: number) {
    const ms = await standstillMs(clock.now());
    if (ms < mostMs) return;
    throw new NotStagedError(`The machine was too busy: for ${formatDuration(ms)} nothing went on.`);
  }

  /** Ends the drill where it stands: from here on each of its steps is refused, and its clients hang up. */
  function stop() {
    endedAt ??= clock.now();
    record.ring();
    for (const sale of others) sale.hangUp();
  }

  const catchUp = (those = live()) => Promise.all(those.map(record.catchUp));

  /** Waits until every sale has ended, and resolves with what is left. Throws NotStagedError when some never end. */
  async function outcome(): Promise<StepHistory> {
    const ends = await Promise.all(sales.map(({ end }) => end));
    if (!(await allEnded())) throw new NotStagedError('Sales were still in flight at the end.');
    await catchUp();
    // A node whose line was cut needs a moment to connect again.
    const read = async () =>
      live()[0]
        ?.stock()
        .catch(() => undefined);
    finalStock = await waitFor(read, STEP_LIMIT_MS);
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
    const seen = { events, deaths: faults.deaths, samples: watch?.samples ?? [], faults: marks };
    const timeline = timelineOf({ from: startedAt, until, ownerOf, ...seen, ...(isJudged && { isJudged }) });
    for (const node of nodes) {
      await poll(clock, STEP_LIMIT_MS, () => node.redis().catch(() => undefined));
      await node.setLock(stage);
      await node.reset();
    }
    for (const sku of skus) await first.clear(sku);
    await poll(clock, STEP_LIMIT_MS, () => faults.clearVotes().catch(() => undefined));
    return { timeline, events, standstillMs: worstMs };
  }

  /**
   * How many masters have voted for a sale of this node, as they say themselves. What an external lock keeps there names no node: every
   * vote counts, so that no other node may ask meanwhile.
   */
  async function votesFor(node: TargetNode): Promise<number> {
    const given = (await faults.votes()).filter((token) => token !== 'nobody' && token !== 'silent');
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
    samples: () => watch?.samples ?? [],
    stock,
    finalStock: () => finalStock,
  });
  return {
    ...record,
    ...faults,
    clock,
    network,
    stage,
    leaseMs: timing.leaseMs,
    initialStock: stock,
    first,
    second,
    redisKind: target.redis.kind,
    /** Narrates what happens, and goes on at once; of a step it waits for the audience, and nothing may depend on how long that takes. */
    async say(sentence: StepSentence, isStep = false, line?: string) {
      mustBeOpen();
      await narrate(sentence, clock.now() - startedAt, isStep, line);
    },
    mark,
    /** Sends what `send` sends. Its client hangs up when the drill is stopped, and those who wait look when it has ended. */
    begin,
    /** The sales so far, the oldest first. */
    sales: sales as readonly RunningSale[],
    /** Puts another sku into the shop, with as many units in stock. It is gone when the test bed is closed. */
    async addSku(sku: string) {
      skus.push(sku);
      await first.setStock(stock, sku);
    },
    /** Sends a sale to a node. */
    sell,
    mend,
    masterCount: backend === 'masters' ? (stack?.masters.length ?? 0) : 0,
    votesFor,
    triesOf: (node: TargetNode) => tries.get(node) ?? 0,
    /** What a node asks of its lock passes a line that can be read. */
    isLockSeen: hasLock(stage) && (backend === 'redis' || backend === 'masters'),
    hasAsked,
    mustHaveWaited,
    mustHaveGoneOn,
    /** The keys that are in Redis besides the stock. None where Redis is not of this run. */
    keysLeft: async () => (stack ? readLeftKeys(network, stack.redis.url) : []),
    /** Resolves when all is known that these nodes have recorded until now; all that live when none are given. */
    catchUp,
    eventsAt: ofNode,
    /** How many sales wait for the lock on a node. */
    waitingAt(node: TargetNode) {
      const last = new Map(ofNode(node).map(({ saleId, type }) => [saleId, type]));
      return [...last.values()].filter((type) => type === 'waiting').length;
    },
    holds: () => holdsOf([...record.events()]),
    waitFor,
    outcome,
    stop,
    /** Brings the stack back to what it was, and resolves with what happened. However that ends, it lets go. */
    close: (isJudged?: (hold: Hold) => boolean) => putBack(isJudged).finally(letGo),
  };
}

/** How long a span and these faults have in common, in milliseconds. */
function sharedMs(span: { from: number; until: number }, faults: Fault[]): number {
  return faults.reduce((sum, { from, until = Number.POSITIVE_INFINITY }) => {
    return sum + Math.max(0, Math.min(until, span.until) - Math.max(from, span.from));
  }, 0);
}
