// Watches one stack for the page: joins what its nodes push, what a drill shows of itself, and what was done to its parts.

import { nameOf } from '../../loadtest/evidence/history.ts';
import type { DrillResult } from '../../loadtest/evidence/results.ts';
import type { LeaseSample } from '../../loadtest/evidence/timeline.ts';
import { sharedClock } from '../../loadtest/harness/clock.ts';
import { followNode, type Push } from '../../loadtest/harness/event-stream.ts';
import type { Observed } from '../../loadtest/harness/observed.ts';
import type { Target } from '../../loadtest/harness/target.ts';
import { backendOfRow } from '../../loadtest/staircase/lookup.ts';
import { lockKey } from '../../services/inventory/store.ts';
import type { Figures, LockView, NodeView, StackView, StockView } from '../contract.ts';
import { createLiveTimeline } from './live-timeline.ts';
import type { ObservedTarget, StockSet } from './observed-target.ts';
import { createWatchedNode, type SaleEndings, type SeenNode, type WatchedNode } from './watched-node.ts';
import { watchStock } from './watched-stock.ts';
import { watchVotes } from './watched-votes.ts';

/** How often news are told at most, in milliseconds. */
const TELL_MS = 100;
const SKU = '001';

export interface WatchOptions {
  target: Pick<Target, 'nodes' | 'stack'>;
  observed: Pick<ObservedTarget, 'parts' | 'lines' | 'stockSet'>;
  stage: string;
  /** Whether the end of a drill stays to be seen, as it was before its way back, until the next one begins. */
  keepsEnd?: boolean;
  /** Ends the watching when it aborts. */
  signal: AbortSignal;
  /** Called when the view may have changed, ten times a second at most. */
  onChange(): void;
}

/** What is seen of a stack. The rest of its view is for others to know. */
export type SeenStack = Pick<
  StackView,
  'stage' | 'parts' | 'lines' | 'nodes' | 'lock' | 'stock' | 'figures' | 'timeline'
>;

export interface Watch {
  view(): SeenStack;
  /** For the context of a drill, which shows itself from its beginning on. */
  observe(seen: Observed): void;
  /** A drill is over, and this came of it: its own timeline, final stock and lost updates are shown. */
  ended(outcome: DrillResult): void;
  /** So many buyers of a rush got no answer. */
  unanswered(count: number): void;
  /** A drill was stopped: nothing came of it, and its way back is seen. */
  stopped(): void;
  /** To be called when something was done to the stack: by the observed target. */
  changed(): void;
}

/**
 * Watches until `signal` aborts. The counts are those of the nodes since they were last reset, exact also when a node dies; of the events
 * the newest 20,000 are kept for the timeline. The way back of a drill resets the nodes: what was seen before is shown until the next
 * one begins, or somebody sells or sets the stock.
 */
export function watchStack({ target, observed, stage, keepsEnd = false, signal, onChange }: WatchOptions): Watch {
  const nodes = target.nodes.map(({ name }) => createWatchedNode(name));
  /** What was seen of the nodes that the way back of a drill has reset. */
  const kept = new Map<WatchedNode, SeenNode>();
  let bed: Observed | undefined;
  let outcome: DrillResult | undefined;
  let noAnswer = 0;
  let wasStopped = false;
  /** The servers, their lines and the lock, as they were seen last in the course of a drill. */
  let last: Pick<SeenStack, 'parts' | 'lines' | 'lock'> | undefined;
  /** The stock that was set last, and how many units each node had sold by then. */
  let supply: (StockSet & { sold: Map<WatchedNode, number> }) | undefined;
  /** How many units each node had sold when the stock was asked for last. */
  let soldWhenAsked: Map<WatchedNode, number> | undefined;
  /** How often something has changed so far, and how often it had when that was told, and when it was looked whether all is still. */
  let changes = 0;
  let changesTold = 0;
  let changesSettled = 0;

  const stock = watchStock(askStock, changed);
  const votes = watchVotesOf(stage, target, changed);
  const timeline = createLiveTimeline(() => nodes.flatMap((node) => look(node).events()));
  const followers = target.nodes.map(({ labUrl }, at) => {
    const node = nodes[at] as WatchedNode;
    return followNode(labUrl, {
      onPush: (push, isFirst) => take(node, push, isFirst),
      onGone() {
        node.gone();
        changed();
      },
    });
  });
  const telling = setInterval(tell, TELL_MS);
  // What is in stock already is seen at once.
  stock.changed();
  signal.addEventListener('abort', close, { once: true });
  if (signal.aborted) close();

  function close() {
    clearInterval(telling);
    stock.close();
    votes?.close();
    for (const follower of followers) follower.close();
  }

  function changed() {
    noteSupply();
    changes += 1;
  }

  function take(node: WatchedNode, push: Push, isFirst: boolean) {
    noteSupply();
    if (push.cleared) aboutToForget(node, push.at);
    else if (push.events.length > 0 && kept.has(node)) startAnew();
    node.take(push, isFirst);
    // It was written before the stock was set, and comes after that.
    if (supply && push.at <= supply.at) supply.sold.set(node, read(node).sold);
    for (const event of push.events) if (event.type === 'wrote') stock.wrote(event);
    const isNews = push.events.length > 0 || push.cleared || push.state !== undefined;
    if (isNews && kept.size === 0) stock.changed();
    if (isNews) changed();
  }

  /** The node was reset at that moment, and counts from 0 again. */
  function aboutToForget(node: WatchedNode, at: number) {
    const seen = read(node);
    if (isOver()) {
      if (!kept.has(node)) kept.set(node, seen);
    } else if (supply && at > supply.at) {
      supply.units -= seen.sold - (supply.sold.get(node) ?? 0);
      supply.sold.set(node, 0);
    }
  }

  /** When the stock was set since, it counts from here on. */
  function noteSupply() {
    const set = observed.stockSet();
    if (set === undefined || set.times === supply?.times) return;
    if (isOver()) startAnew();
    supply = { ...set, sold: soldByNow() };
    stock.changed();
  }

  const soldByNow = () => new Map(nodes.map((node) => [node, read(node).sold]));

  const isOver = () => outcome !== undefined || bed?.endedAt() !== undefined;

  /** Forgets what is shown of the drill before. */
  function startAnew() {
    // Its nodes were reset since.
    if (kept.size > 0) supply = undefined;
    kept.clear();
    bed = undefined;
    outcome = undefined;
    noAnswer = 0;
    last = undefined;
    wasStopped = false;
  }

  const isPart = (name: string, is: 'stopped' | 'dead') =>
    observed.parts().some((part) => part.name === name && part.is === is);
  /** A node that is not heard of is dead, unless it was stopped. */
  const isDead = (node: WatchedNode) => isPart(node.name, 'dead') || (node.isGone() && !isPart(node.name, 'stopped'));
  const read = (node: WatchedNode) => node.read(isDead(node));
  const look = (node: WatchedNode) => kept.get(node) ?? read(node);

  /** Asks a node that runs, and if there is one, one whose lines are all open. */
  async function askStock(): Promise<number | undefined> {
    const running = target.nodes.filter(({ name }) => !isPart(name, 'stopped') && !isPart(name, 'dead'));
    const disturbed = observed.lines().filter(({ is, held }) => is !== 'open' || held !== undefined);
    const node = running.find(({ name }) => disturbed.every(({ from }) => from !== name)) ?? running[0];
    if (node === undefined) throw new Error('No node runs.');
    const sold = soldByNow();
    const units = await node.stock();
    soldWhenAsked = sold;
    return units;
  }

  function tell() {
    if (supply === undefined && !isOver() && isStill()) supplyAsFound();
    changesSettled = changes;
    timeline.look();
    const isPlaying = bed !== undefined && !isOver();
    if (changes === changesTold && !isPlaying) return;
    changesTold = changes;
    onChange();
  }

  /** The answers and the stock are of one moment: nobody sells, and nothing has changed for a while. */
  const isStill = () =>
    changes === changesSettled && stock.isSettled() && nodes.every((node) => look(node).inFlight === 0);

  /** Somebody else has set the stock: it counts from what it is now. */
  function supplyAsFound() {
    const units = stock.units();
    if (units === undefined || figures() === null) return;
    supply = { units, times: observed.stockSet()?.times ?? 0, at: sharedClock(), sold: soldByNow() };
    changed();
  }

  const underWay = () => nodes.map(look).reduce((sum, { inFlight, waiting }) => sum + inFlight - waiting, 0);

  function lost(): number {
    const seen = stockView();
    // Nodes that sell at once may tell their writes out of order: as many as are under way may be none that are lost.
    const more = seen ? seen.actual - seen.expected - underWay() : 0;
    const found = outcomeFigure('lostUpdates') ?? Math.max(more, timeline.undone());
    return Math.max(0, found);
  }

  function stockView(): StockView | null {
    const actual = outcomeFigure('finalStock') ?? stock.units();
    if (actual === undefined || supply === undefined) return null;
    const { units, sold } = supply;
    // Both numbers are of one moment.
    const then = stock.isAskedAlone() && !isOver() ? soldWhenAsked : undefined;
    const soldOf = (node: WatchedNode) => (then?.get(node) ?? look(node).sold) - (sold.get(node) ?? 0);
    return { actual, expected: nodes.reduce((left, node) => left - soldOf(node), units) };
  }

  /** Of the drill that is over, if it has measured that. */
  function outcomeFigure(name: string): number | undefined {
    const value = (outcome?.figures as Record<string, unknown> | undefined)?.[name];
    return typeof value === 'number' ? value : undefined;
  }

  function figures(): Figures | null {
    const seen = nodes.map(look);
    if (!seen.every(({ state }) => state !== undefined)) return null;
    return { ...sumOf(seen), underWay: underWay(), lost: lost(), noAnswer: outcomeFigure('inDoubt') ?? noAnswer };
  }

  function nodeView(node: WatchedNode): NodeView {
    const { waiting, inside } = look(node);
    return { name: node.name, waiting, inside };
  }

  function lockView(): LockView | null {
    if (bed === undefined || isOver()) return null;
    if (votes) return lockAsSeen(votes.read(), bed);
    return backendOfRow(stage) === 'redis' ? lockAsSeen(bed.samples().at(-1), bed) : lockOfLast();
  }

  function servers() {
    if (keepsEnd && !wasStopped && isOver() && last !== undefined) return last;
    const now = { parts: observed.parts(), lines: observed.lines(), lock: lockView() };
    if (bed !== undefined) last = now;
    return now;
  }

  /** The lock that Redis has, or most masters have. Its token is what the node of its holder has said. */
  function lockAsSeen(seen: Pick<LeaseSample, 'owner' | 'ttlMs'> | undefined, { ownerOf }: Observed): LockView | null {
    if (seen?.owner === undefined) return null;
    const owner = ownerOf(seen.owner);
    const fencingToken = owner && nodes.find(({ name }) => name === owner.node)?.tokenOf(owner.saleId);
    return {
      holder: owner ? nameOf(owner) : seen.owner,
      ...(owner && { node: owner.node }),
      ...(Number.isFinite(seen.ttlMs) && { leftMs: seen.ttlMs }),
      leaseMs: Math.max(0, ...nodes.map((node) => read(node).state?.leaseMs ?? 0)),
      ...(fencingToken !== undefined && { fencingToken }),
    };
  }

  /** That of the sale that was let in last, until it leaves: who was let in before had lost it by then. */
  function lockOfLast(): LockView | null {
    const [last] = nodes.flatMap((node) => node.lastLetIn() ?? []).sort((a, b) => b.at - a.at);
    const node = nodes.find(({ name }) => name === last?.node);
    if (last === undefined || node === undefined || !last.isInside) return null;
    // ZooKeeper keeps the lock of a dead process for a while, MySQL does not.
    if (isDead(node) && backendOfRow(stage) === 'mysql') return null;
    const { fencingToken } = last;
    return { holder: nameOf(last), node: node.name, leaseMs: 0, ...(fencingToken !== undefined && { fencingToken }) };
  }

  return {
    view: () => ({
      stage,
      ...servers(),
      nodes: nodes.map(nodeView),
      stock: stockView(),
      figures: figures(),
      timeline: timeline.read(),
    }),
    observe(seen) {
      noteSupply();
      startAnew();
      bed = seen;
      timeline.begin(seen);
      changed();
    },
    ended(its) {
      outcome = its;
      if (its.timeline) timeline.end(its.timeline);
      changed();
    },
    unanswered(count) {
      noAnswer = count;
      changed();
    },
    stopped() {
      wasStopped = true;
      changed();
    },
    changed,
  };
}

/** Of the masters, where they vote. */
function watchVotesOf(stage: string, { stack }: Pick<Target, 'stack'>, onChange: () => void) {
  if (backendOfRow(stage) !== 'masters' || !stack?.masters.length) return undefined;
  const urls = stack.masters.map(({ url }) => url);
  return watchVotes(urls, lockKey(SKU, stage), onChange);
}

function sumOf(seen: SaleEndings[]): SaleEndings {
  const sum = (count: (each: SaleEndings) => number) => seen.reduce((total, each) => total + count(each), 0);
  return {
    sold: sum(({ sold }) => sold),
    refused: sum(({ refused }) => refused),
    inDoubt: sum(({ inDoubt }) => inDoubt),
  };
}
