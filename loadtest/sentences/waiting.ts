// Sentences about buyers who wait for the lock, many at once or in an order: steps and demands.

import { isSame, type SaleName, saleNameOf, spansOf } from '../evidence/history.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import type { TargetNode } from '../harness/target.ts';
import { STEP_LIMIT_MS } from '../harness/test-bed.ts';
import { seen } from '../narration/evidence.ts';
import { deed } from '../narration/faults.ts';
import { because } from '../narration/reasons.ts';
import { type StepSentence, told } from '../narration/steps.ts';
import { backendOfRow } from '../staircase/lookup.ts';
import { mustHaveHadTime } from './demands.ts';
import { mustStillWait } from './endings.ts';
import { actorOf, demand, needing, type Playing, setting, step } from './playing.ts';
import { sellAndAsk } from './sales.ts';

/** How long it may take until no disconnected buyer waits, in milliseconds. */
const HANG_UP_LIMIT_MS = 1_000;
/** The part of the requested tries that is needed to tell bytes from noise. */
const FEWEST = 1 / 3;
/** How often a node is asked for something that takes longer than a try. A waiter that retries at once tries at least half as often. */
const QUESTIONS = 20;
/** After how long an unused lock counts as reserved for the other node, in milliseconds: a waiter here would have taken it long before. */
const UNUSED_MS = 400;
/** After how many turns at most a lock is reserved for the longest waiter: it is at once, or after a tenure. */
const MOST_KEPT = 2;
/** Within what time a waiter tries again, in milliseconds. With masters it tries at random times, and more rarely. */
const ASKS_AGAIN_MS = 100;
const ASKS_MASTERS_AGAIN_MS = 1_000;

const withLinks = needing('links');

export const steps = [
  setting('waiters retry at once', () => ({ timing: { retryDelayMs: 0 } })),
  step('<count> buyers arrive at <node> and wait', async (playing, { count, node }) => {
    await crowd(playing, count, node);
    return told('buyers waited', { buyers: count, node: node.name });
  }),
  step('the buyers disconnect', hangUp),
  /** The first tries also use memory for compiled code. */
  needing('links', 'read heap')(
    '<node> tries <count> times, for <limit> at most[, and its memory is measured]',
    async (playing, { node, count, limit: limitMs }) => {
      const { crowd } = playing;
      await playing.say(told('asking began', { node: node.name }));
      const from = playing.clock.now();
      const [triesBefore, bytesBefore] = [playing.lock.triesOf(node), await node.heap()];
      const made = () => playing.lock.triesOf(node) - triesBefore;
      await playing.record.until(() => made() >= count, limitMs);
      const [tries, ms] = [made(), playing.clock.now() - from];
      Object.assign(playing.figures, { tries, bytesPerTry: Math.max(0, (await node.heap()) - bytesBefore) / tries });
      if (tries >= FEWEST * count) return told('asked often', { node: node.name, tries, ms });
      const nothingToBreak = await trySeldom(playing, node);
      // They may have ended while the node was asked.
      await playing.record.catchUp();
      if (playing.record.waitingAt(node) < crowd.length) {
        throw new NotStagedError(`Some of the buyers on ${node.name} were not waiting any more.`);
      }
      throw new NotStagedError(`Only ${tries} tries were made: too few to measure.`, { nothingToBreak });
    },
  ),
  step('<sale> sells at <node>, and waits', async (playing, { sale, node }) => {
    await sellAndWait(playing, sale, node);
    return told('waited', { sale, node: node.name });
  }),
  step('the next sales at <node> are held inside', async (_course, { node }) => {
    await node.script({ untilResumed: true, times: 1_000 });
    return told('sales held', { node: node.name });
  }),
  withLinks(
    'up to <count> times while <sale> waits: its node is cut off, the next sale enters at <node>, and another arrives there',
    (playing, { count, sale, node }) => goFirst(playing, { most: count, name: sale, here: node }),
  ),
];

export const demands = [
  demand('at most one sale is in doubt', (_course, { ends }) => {
    const inDoubt = ends.filter(({ outcome }) => outcome === 'inDoubt').length;
    const wrong = inDoubt > 1 && because('buyers in doubt', { inDoubt, buyers: ends.length });
    return { wrong, figures: { asked: ends.length, inDoubt } };
  }),
  demand('no buyer still waits <time> after disconnecting', async (playing, { events }, { time: limitMs }) => {
    const { crowd, hungUpAt = 0 } = playing;
    const gone = events.filter(({ code, at }) => code === 'CLIENT_GONE' && at >= hungUpAt);
    const inTime = gone.filter(({ at }) => at <= hungUpAt + limitMs);
    const stillWaiting = crowd.length - inTime.length;
    await mustHaveHadTime(playing, stillWaiting > 0 ? limitMs : 0);
    const emptyMs = Math.max(0, ...inTime.map(({ at }) => at - hungUpAt));
    return {
      right: because('waiters left', { ms: emptyMs }),
      wrong: stillWaiting > 0 && because('waiters stayed', { sales: stillWaiting, ms: limitMs }),
      figures: { emptyMs, stillWaiting },
    };
  }),
  demand('nothing is sold to a buyer that has disconnected', async ({ first, second }, { ends }) => {
    const states = await Promise.all([first, second].map((node) => node.state()));
    const answered = ends.filter(({ outcome }) => outcome === 'sold').length;
    const soldToNobody = states.reduce((sum, { counts }) => sum + counts.sold, 0) - answered;
    const wrong = soldToNobody > 0 && because('units sold to nobody', { units: soldToNobody });
    return { wrong, figures: { soldToNobody } };
  }),
  demand('each try keeps fewer than <count> bytes', ({ figures }, _outcome, { count }) => {
    const { tries = 0, bytesPerTry = Number.NaN } = figures;
    const right = because('a try keeps', { bytesPerTry, tries });
    return { right, wrong: !(bytesPerTry < count) && right };
  }),
  demand('the waiters enter in the order in which they asked', async ({ actors, stage }, { events }) => {
    const waited = [...actors.values()].filter(({ asks }) => asks !== undefined);
    const ends = await Promise.all(waited.map(({ sale }) => sale.end));
    const unsold = ends.filter(({ outcome }) => outcome !== 'sold').length;
    if (unsold > 0) {
      throw new NotStagedError(`${unsold} of ${ends.length} sales failed.`);
    }
    const placeOf = (sale: SaleName) => waited.findIndex(({ asks }) => asks !== undefined && isSame(asks, sale));
    const entered = spansOf(events).filter((span) => placeOf(span) >= 0);
    // Each with one that had asked later and went in before it.
    const overtaken = entered.flatMap((sale, place) => {
      const ahead = entered.slice(0, place).find((other) => placeOf(other) > placeOf(sale));
      return ahead === undefined ? [] : [{ sale, ahead }];
    });
    const order = entered.map((sale) => placeOf(sale) + 1);
    const areNeighbours = entered.every((sale, place) => Math.abs(placeOf(sale) - place) <= 1);
    // Only a connection to Redis tells what has come there.
    if (overtaken.length > 0 && areNeighbours && backendOfRow(stage) !== 'redis') {
      throw new NotStagedError(
        `They entered in the order ${order.join(', ')}, and it is unknown whose request came first.`,
      );
    }
    return {
      wrong:
        overtaken.length > 0 && because('overtaken', { overtaken: overtaken.length, waiters: waited.length, order }),
      figures: { overtaken: overtaken.length, asked: waited.length },
      evidence: overtaken.map(({ sale, ahead }) =>
        seen('went in after a later one', { sale: saleNameOf(sale), ahead: saleNameOf(ahead) }),
      ),
    };
  }),
  demand('fewer than <count> later arrivals enter before <sale>', async (playing, _outcome, { sale: name, count }) => {
    const { node, sale } = actorOf(playing, name);
    const { overtakes = 0, waitedMs } = playing.figures;
    const end = await sale.end;
    const figures = { overtakes, waitedMs: waitedMs ?? end.ms };
    if (waitedMs !== undefined) {
      return { wrong: because('starved', { others: count }), figures };
    }
    if (end.outcome === 'cutOff') {
      return { wrong: because('free lock not entered', { node: node.name, ms: end.ms }), figures };
    }
    if (end.outcome !== 'sold') throw new NotStagedError(`The sale on ${node.name} was refused.`);
    return { right: because('went in', { sale: name, others: overtakes }), figures };
  }),
];

/** Starts that many sales. Resolves when all of them wait. Throws NotStagedError when they don't in time. */
async function crowd(playing: Playing, count: number, node: TargetNode) {
  playing.crowd = Array.from({ length: count }, () => playing.sales.sell(node));
  const doWait = () => playing.record.waitingAt(node) === count;
  await playing.record.mustSee(doWait, STEP_LIMIT_MS, `${count} buyers did not wait on ${node.name}.`);
}

/** Disconnects the buyers. Resolves when none of them waits any more, or when that takes too long. */
async function hangUp(playing: Playing) {
  const { crowd } = playing;
  playing.hungUpAt = playing.clock.now();
  for (const { hangUp } of crowd) hangUp();
  const { first, second } = playing;
  const node = crowd[0]?.node === first.name ? first : second;
  playing.mark(deed('clients hang up', { clients: crowd.length }), { node });
  await playing.record.until(() => playing.record.waitingAt(node) === 0, HANG_UP_LIMIT_MS);
  const [buyers, waiting] = [crowd.length, playing.record.waitingAt(node)];
  return waiting > 0 ? told('buyers hung up in vain', { buyers, waiting }) : told('buyers hung up', { buyers });
}

/** Whether the waiters of a node try more rarely than the node could: the lock waits for something else, and the machine is not the reason. */
async function trySeldom({ crowd, lock }: Playing, node: TargetNode): Promise<boolean> {
  const before = lock.triesOf(node);
  for (let asked = 0; asked < QUESTIONS; asked += 1) await node.redis();
  return lock.triesOf(node) - before < (crowd.length * QUESTIONS) / 2;
}

/** Starts a sale. Resolves when its request for the lock has arrived. Throws NotStagedError when it does not wait. */
async function sellAndWait(playing: Playing, name: string, node: TargetNode) {
  const asks = await sellAndAsk(playing, name, node);
  actorOf(playing, name).asks = asks;
  mustStillWait(playing);
}

/**
 * Again and again one more at a node goes first, since the line of the sale is cut whenever the lock is free. Resolves when that is in, or
 * when so many have gone first; then nobody is held any more.
 */
async function goFirst(playing: Playing, { most, name, here }: { most: number; name: string; here: TargetNode }) {
  const { node: there, askedAt } = actorOf(playing, name);
  const enteredHere = () => playing.record.holds().filter(({ node }) => node === here.name);
  const isWaiting = async () => (await there.state()).waiting > 0 || undefined;
  mustStillWait(playing);
  await playing.say(told('others came first', { sale: name, node: here.name }));
  let overtakes = 0;
  while (overtakes < most && (await isWaiting())) {
    await playing.record.catchUp();
    const inside = enteredHere().length;
    const line = playing.faults.cutOff(there);
    const slow = playing.mark(deed('line cut'), { node: there });
    await here.resume();
    const next = await playing.record.until(() => enteredHere()[inside], UNUSED_MS);
    line.restore();
    slow.over();
    if (next === undefined) {
      // A lock that nobody wants here is kept for nobody.
      if ((await here.state()).waiting > 0) break;
      throw new NotStagedError(`No sale waited on ${here.name} any more.`);
    }
    overtakes += 1;
    playing.sales.sell(here);
    await findsItTaken(playing, name);
  }
  const isStarved = overtakes === most && (await isWaiting()) === true;
  const waitedMs = playing.clock.now() - askedAt;
  await here.script({});
  await here.resume();
  Object.assign(playing.figures, { overtakes, ...(isStarved && { waitedMs }) });
  if (!isStarved) await playing.mustHaveGoneOn(UNUSED_MS / 2);
  if (isStarved || overtakes <= MOST_KEPT) return passedOver(name, overtakes, isStarved);
  throw new NotStagedError(`${name} entered after ${overtakes} later arrivals, for an unknown reason.`);
}

/** Narrates how many later arrivals entered first, and whether the sale still waits. */
export function passedOver(sale: string, others: number, isStarved: boolean): StepSentence {
  if (isStarved) return told('was passed over', { sale, others });
  return others > 0 ? told('was overtaken', { sale, others }) : told('was not overtaken', { sale });
}

/** Waits until a sale tries again over its restored connection. If its masters did not reply it was refused, and its buyer tries again. */
async function findsItTaken(playing: Playing, name: string) {
  const { node, sale } = actorOf(playing, name);
  await playing.record.waitFor(() => node.redis().catch(() => undefined), STEP_LIMIT_MS);
  const tried = playing.lock.triesOf(node);
  const asksAgainMs = backendOfRow(playing.stage) === 'masters' ? ASKS_MASTERS_AGAIN_MS : ASKS_AGAIN_MS;
  await playing.record.until(() => playing.lock.triesOf(node) >= tried + 2, asksAgainMs);
  if ((await node.state()).waiting > 0 || (await sale.end).outcome === 'sold') return;
  await sellAndWait(playing, name, node);
}
