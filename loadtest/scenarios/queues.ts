// What is said of the order in which those who wait get in, and when it holds then.

import { isSame, nameOf, type SaleName, spansOf } from '../evidence/history.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import { countOf, formatDuration } from '../evidence/numbers.ts';
import { sharedClock } from '../harness/clock.ts';
import type { TargetNode } from '../harness/target.ts';
import { STEP_LIMIT_MS } from '../harness/test-bed.ts';
import { backendOfRow } from '../staircase/lookup.ts';
import { actorOf, type Course, demand, needing, step } from './course.ts';
import { mustStillWait, sell } from './sentences.ts';

/** A lock that goes unused for so long is kept for the other node, in milliseconds: who waits here would have taken it long since. */
const UNUSED_MS = 400;
/** A lock that is kept for those who wait longest is kept at once, or after a tenure: not after so many turns and more. */
const MOST_KEPT = 2;
/** Who asks again and again has done so within this time, in milliseconds; where masters vote it asks at random, and more seldom. */
const ASKS_AGAIN_MS = 100;
const ASKS_MASTERS_AGAIN_MS = 1_000;

export const queueSteps = [
  step('<sale> sells at <node>, and waits', (course, { sale, node }) => sellAndWait(course, sale, node)),
  step('the next sales at <node> are held inside', async (_course, { node }) =>
    node.script({ untilResumed: true, times: 1_000 }),
  ),
  needing('links')(
    '<count> times, as long as <sale> waits: its node is cut off, the next one enters at <node>, and another comes there',
    (course, { count, sale, node }) => goFirst(course, { most: count, name: sale, here: node }),
    { isLong: true },
  ),
];

export const queueDemands = [
  demand('those who waited enter in the order in which they asked', async ({ actors }, { events }) => {
    const waited = [...actors.values()].filter(({ asks }) => asks !== undefined);
    const ends = await Promise.all(waited.map(({ sale }) => sale.end));
    const unsold = ends.filter(({ outcome }) => outcome !== 'sold').length;
    if (unsold > 0) {
      throw new NotStagedError(`${unsold} of ${ends.length} sales did not take place.`);
    }
    const placeOf = (sale: SaleName) => waited.findIndex(({ asks }) => asks !== undefined && isSame(asks, sale));
    const entered = spansOf(events).filter((span) => placeOf(span) >= 0);
    // Each with one that had asked later and went in before it.
    const overtaken = entered.flatMap((sale, place) => {
      const ahead = entered.slice(0, place).find((other) => placeOf(other) > placeOf(sale));
      return ahead === undefined ? [] : [{ sale, ahead }];
    });
    const order = entered.map((sale) => placeOf(sale) + 1).join(', ');
    return {
      wrong:
        overtaken.length > 0
          ? `${overtaken.length} of ${waited.length} were overtaken: they entered in the order ${order}`
          : undefined,
      figures: { overtaken: overtaken.length, asked: waited.length },
      witnesses: overtaken.map(
        ({ sale, ahead }) => `${nameOf(sale)} asked before ${nameOf(ahead)}, and went in after it`,
      ),
    };
  }),
  demand('<sale> goes in before <count> that have come later', async (course, _outcome, { sale: name, count }) => {
    const { node, sale } = actorOf(course, name);
    const { overtakes, waitedMs } = course.overtaken ?? { overtakes: 0, waitedMs: undefined };
    const end = await sale.end;
    const figures = { overtakes, waitedMs: waitedMs ?? end.ms };
    if (waitedMs !== undefined) {
      const wrong = `${count} went first that had come later, one after the other, and nothing bounds how many more`;
      return { wrong, figures };
    }
    if (end.outcome === 'cutOff') {
      const wrong = `The lock was free, and the sale on ${node.name} did not enter within ${formatDuration(end.ms)}`;
      return { wrong, figures };
    }
    if (end.outcome !== 'sold') throw new NotStagedError(`The sale on ${node.name} was refused.`);
    const others = overtakes > 0 ? countOf(overtakes, 'other') : 'all';
    const right = `${name} went in ${overtakes > 0 ? 'after' : 'before'} ${others} that had come later`;
    return { right, figures };
  }),
];

/** Resolves when what a sale has asked of its lock has come there. Throws NotStagedError when it does not wait. */
async function sellAndWait(course: Course, name: string, node: TargetNode) {
  const { testBed } = course;
  const actor = sell(course, name, node);
  const { askedAt } = actor;
  const ask = () => testBed.eventsAt(node).find((event) => event.type === 'waiting' && event.at >= askedAt);
  const asks = await testBed.mustSee(ask, STEP_LIMIT_MS, `The sale on ${node.name} did not ask for the lock.`);
  course.actors.set(name, { ...actor, asks });
  await testBed.hasAsked(node);
  await mustStillWait(course);
}

/**
 * Again and again one more at a node goes first, since the line of the sale is cut whenever the lock is free. Resolves when that is in, or
 * when so many have gone first; then nobody is held any more.
 */
async function goFirst(course: Course, { most, name, here }: { most: number; name: string; here: TargetNode }) {
  const { testBed } = course;
  const { node: there, askedAt } = actorOf(course, name);
  const enteredHere = () => testBed.holds().filter(({ node }) => node === here.name);
  const isWaiting = async () => (await there.state()).waiting > 0 || undefined;
  await mustStillWait(course);
  let overtakes = 0;
  while (overtakes < most && (await isWaiting())) {
    await testBed.catchUp();
    const inside = enteredHere().length;
    const line = testBed.cutOff(there);
    const slow = testBed.mark('line cut', { node: there });
    await here.resume();
    const next = await testBed.until(() => enteredHere()[inside], UNUSED_MS);
    line.restore();
    slow.over();
    if (next === undefined) {
      // A lock that nobody wants here is kept for nobody.
      if ((await here.state()).waiting > 0) break;
      throw new NotStagedError(`Nobody waited at ${here.name} any more.`);
    }
    overtakes += 1;
    testBed.sell(here);
    await findsItTaken(course, name);
  }
  const isStarved = overtakes === most && (await isWaiting());
  const waitedMs = sharedClock() - askedAt;
  await here.script({});
  await here.resume();
  course.overtaken = { overtakes, ...(isStarved && { waitedMs }) };
  const told = `${countOf(overtakes, 'other')} went first`;
  if (isStarved) return told;
  await testBed.mustHaveGoneOn(UNUSED_MS / 2);
  if (overtakes <= MOST_KEPT) return told;
  throw new NotStagedError(`${name} went in after ${overtakes} that had come later, and it can't be told why.`);
}

/** The line of a sale is well again, and it asks once more. One whose masters did not answer was refused, and its buyer comes again. */
async function findsItTaken(course: Course, name: string) {
  const { testBed } = course;
  const { node, sale } = actorOf(course, name);
  await testBed.waitFor(() => node.redis().catch(() => undefined), STEP_LIMIT_MS);
  const tried = testBed.triesOf(node);
  const asksAgainMs = backendOfRow(testBed.stage) === 'masters' ? ASKS_MASTERS_AGAIN_MS : ASKS_AGAIN_MS;
  await testBed.until(() => testBed.triesOf(node) >= tried + 2, asksAgainMs);
  if ((await node.state()).waiting > 0 || (await sale.end).outcome === 'sold') return;
  await sellAndWait(course, name, node);
}
