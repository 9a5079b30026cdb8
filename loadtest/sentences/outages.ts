// Sentences about outages of Redis while buyers keep arriving: steps and demands.

import { NotStagedError } from '../evidence/not-staged.ts';
import type { LeftKey } from '../harness/lease-watch.ts';
import type { RunningSale } from '../harness/sales.ts';
import type { TargetNode } from '../harness/target.ts';
import { deed } from '../narration/faults.ts';
import { because } from '../narration/reasons.ts';
import { told } from '../narration/steps.ts';
import { mustHaveHadTime } from './demands.ts';
import { demand, needing, type Outage, type Playing, setting, step } from './playing.ts';

/** How long each of these may take, in milliseconds. Together they take less than the lease of a sale that is held meanwhile. */
const [FOUND_LIMIT_MS, ASKED_LIMIT_MS, MEANWHILE_MS] = [2_000, 1_000, 250];
export const steps = [
  setting('there are <count> units in stock', ({ count }) => ({ stock: count })),
  step('<count> units are sold within <limit>', async (playing, { count, limit: limitMs }) => {
    // A shop that does not sell again has failed already.
    if (!isShopOpen(playing)) return told('shop closed');
    const since = playing.clock.now();
    const isRush = () => soldSince(playing, since) >= count;
    await playing.record.mustSee(isRush, limitMs, `${count} sales did not succeed before the outage.`);
    return told('units sold', { sold: soldSince(playing, since), ms: playing.clock.now() - since });
  }),
  needing('links', 'redis process')(
    'Redis is paused (SIGSTOP) for <time>, and <node> reconnects when a sale of the other node is held inside, or <limit> later',
    (playing, { time, node, limit }) => findItLater(playing, time, node, limit),
  ),
  needing('redis process')(
    'Redis is killed (SIGKILL), and restarts with its data after <time>',
    async (playing, { time }) => {
      // A shop that does not sell again shows nothing of a second outage, and the embedded server would come back empty.
      if (!isShopOpen(playing)) return told('shop closed');
      if (playing.redisKind !== 'native') return told('Redis spared');
      const redis = await playing.faults.killRedis();
      const { from, until } = await goAway(playing, 'SIGKILL', redis, time);
      return told('Redis started again', { ms: until - from });
    },
  ),
  step('sales succeed again, or not within <limit>', async (playing, { limit }) => {
    const outage = playing.outages.at(-1);
    // One after which the shop stayed closed is looked at once.
    if (outage === undefined || outage.backMs !== undefined) return told('no new outage');
    if (outage.stayed) return told('shop closed');
    const soldAt = ({ ended }: RunningSale) => (ended?.outcome === 'sold' ? ended.sentAt + ended.ms : 0);
    const next = () => playing.sales.all.map(soldAt).filter((at) => at > outage.until);
    if (await playing.record.until(() => next().length > 0, limit)) {
      const { until, held = { from: until, until } } = outage;
      const at = Math.min(...next());
      outage.backMs = at - until - (at > held.until ? held.until - held.from : 0);
      return told('sales resumed', { ms: at - until });
    }
    outage.stayed = await playing.lock.keysLeft();
    return told('no sale in time', { ms: limit });
  }),
];

export const demands = [
  demand(
    'every buyer gets a response within <time> while Redis is unavailable',
    async (playing, { ends }, { time: limitMs }) => {
      const { outages } = playing;
      /** How long each request in progress during an outage waited in it. */
      const waits = outages.flatMap(({ from, until }) =>
        ends
          .filter(({ sentAt, ms }) => sentAt < until && sentAt + ms > from)
          .map(({ sentAt, ms }) => Math.min(sentAt + ms, until) - Math.max(sentAt, from)),
      );
      if (waits.length === 0) throw new NotStagedError('No buyer asked while Redis was unavailable.');
      const isServed = outages.some(({ from, until }) =>
        ends.some((end) => end.outcome === 'sold' && end.sentAt > from && end.sentAt + end.ms < until),
      );
      if (isServed) throw new NotStagedError('Redis replied during its outage.');
      const slowestMs = Math.max(...waits);
      const countEnds = (...outcomes: string[]) => ends.filter(({ outcome }) => outcomes.includes(outcome)).length;
      const cutOff = countEnds('cutOff', 'nonsense');
      await mustHaveHadTime(playing, slowestMs - limitMs);
      const wrong = [
        ...(cutOff > 0 ? [because('requests cut off', { requests: cutOff })] : []),
        ...(slowestMs > limitMs ? [because('an answer took', { ms: slowestMs, limitMs })] : []),
      ];
      const refused = countEnds('failed', 'lockTimeout');
      return {
        wrong,
        right: because('slowest answer', { ms: slowestMs }),
        figures: { sent: ends.length, refused, cutOff, limitMs, slowestMs },
      };
    },
  ),
  demand('sales succeed again within <time> after it is back', async (playing, _outcome, { time: limitMs }) => {
    const { outages } = playing;
    const stuck = outages.find(({ backMs }) => backMs === undefined);
    const missed = outages.find(({ missed }) => missed)?.missed;
    // A shop that stays closed has failed, whoever asked.
    if (stuck === undefined && missed) throw new NotStagedError(missed);
    const backMs = Math.max(...outages.map((outage) => outage.backMs ?? 0));
    await mustHaveHadTime(playing, stuck ? limitMs : 0);
    const left = stuck?.stayed ?? [];
    // A stranger's lock promises no more than its lease: what was granted to a client that had gone ends with it.
    const ends = !playing.wire.nodesTell && left.length > 0 && left.every(({ leftMs }) => leftMs <= playing.leaseMs);
    const [first] = left;
    return {
      wrong: !ends && stuck && [because(`no sale after ${stuck.signal}`, { limitMs }), ...left.map(stayed)],
      right: ends && first ? stayed(first) : because('sales flowed again', { ms: backMs }),
      figures: { ...(stuck === undefined && { backMs }) },
    };
  }),
];

const stayed = ({ key, leftMs }: LeftKey) =>
  because('key stayed', { key, ms: Number.isFinite(leftMs) ? leftMs : null });

const isShopOpen = ({ outages }: Playing) => outages.every(({ backMs }) => backMs !== undefined);

const soldSince = ({ sales }: Playing, at: number) =>
  sales.all.filter(({ ended }) => ended?.outcome === 'sold' && ended.sentAt >= at).length;

const away = {
  SIGSTOP: { fault: deed('Redis stopped for a while'), begins: told('Redis paused') },
  SIGKILL: { fault: deed('Redis killed for a while'), begins: told('Redis killed') },
};

/** Makes Redis unavailable for so many milliseconds. Calls `atItsReturn` right before it is back. */
async function goAway(
  { clock, mark, outages, say }: Playing,
  signal: Outage['signal'],
  redis: { comeBack(): unknown },
  ms: number,
  atItsReturn: () => unknown = () => {},
): Promise<Outage> {
  const from = clock.now();
  const { over } = mark(away[signal].fault);
  await say(away[signal].begins);
  await clock.sleep(ms);
  await atItsReturn();
  const outage: Outage = { signal, from, until: clock.now() };
  await redis.comeBack();
  over();
  outages.push(outage);
  return outage;
}

/**
 * A node finds Redis again when the next sale at the other one is held inside, or so many milliseconds later. Before that sale goes on, the
 * node has given up what it may hold, and somebody else has asked.
 */
async function findItLater(playing: Playing, ms: number, node: TargetNode, limitMs: number) {
  const other = node === playing.first ? playing.second : playing.first;
  let restore = () => {};
  const outage = await goAway(playing, 'SIGSTOP', await playing.faults.stopRedis(), ms, async () => {
    restore = playing.faults.cutLine(node);
    await other.script({ untilResumed: true });
  });
  const tried = playing.lock.triesOf(other);
  const isHeld = async () => (await other.state()).held > 0 || undefined;
  const isMet = await playing.record.waitFor(isHeld, limitMs);
  const heldFrom = playing.clock.now();
  if (!isMet && playing.lock.isSeen && playing.lock.masterCount === 0) {
    outage.missed = await whyNotKeptOut(playing, other, tried, outage.until);
  }
  restore();
  const foundMs = playing.clock.now() - outage.until;
  if (isMet) {
    outage.missed = await whyNoneAsked(playing, node, other);
    outage.held = { from: heldFrom, until: playing.clock.now() };
  }
  // Nobody else is held from here on.
  await other.script({});
  if (!isMet && (await isHeld())) outage.missed = `A sale of ${other.name} entered too late.`;
  await other.resume();
  if (isMet) return told('Redis found again by the other', { node: node.name, other: other.name });
  return told('Redis found again', { node: node.name, ms: foundMs });
}

/** Resolves with the reason why something other than the lock has kept everybody out at a node since then. */
async function whyNotKeptOut(playing: Playing, node: TargetNode, tried: number, since: number) {
  if (playing.lock.triesOf(node) === tried) {
    return `No sale on ${node.name} tried to acquire the lock before the other node reconnected to Redis.`;
  }
  await playing.record.catchUp([node]);
  const hasEntered = playing.record.holds().some((hold) => hold.node === node.name && hold.entered > since);
  const isFree = (await playing.lock.keysLeft()).length === 0;
  return hasEntered || isFree
    ? `No sale was inside on ${node.name} when the other node reconnected to Redis.`
    : undefined;
}

/** Resolves when a node has released what it may hold and another sale has tried to acquire the lock on the other node; or with why not. */
async function whyNoneAsked(playing: Playing, node: TargetNode, other: TargetNode): Promise<string | undefined> {
  const isThere = await playing.record.waitFor(() => node.redis().catch(() => undefined), FOUND_LIMIT_MS);
  if (!isThere) return `${node.name} did not reach Redis again.`;
  const hasGivenUp = async () => (await node.state()).unreleased === 0 || undefined;
  if (!(await playing.record.waitFor(hasGivenUp, FOUND_LIMIT_MS)))
    return `${node.name} did not release what it may hold.`;
  const from = playing.clock.now();
  playing.sales.sell(other);
  const hasBegun = () => playing.record.eventsAt(other).some(({ type, at }) => type === 'waiting' && at >= from);
  if (!(await playing.record.until(hasBegun, ASKED_LIMIT_MS)))
    return `No sale on ${other.name} tried to acquire the lock while another sale was held inside.`;
  await playing.lock.hasAsked(other);
  await playing.clock.sleep(MEANWHILE_MS);
  return undefined;
}
