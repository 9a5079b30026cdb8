// What is said of a sale that comes: whether it asks, gets in, is refused or gives up.

import { hasLock } from '../../locks/index.ts';
import type { SaleEvent, SaleScript } from '../../services/inventory/sale/contract.ts';
import type { SaleEnd } from '../evidence/answers.ts';
import { isSame, type SaleName } from '../evidence/history.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import type { TargetNode } from '../harness/target.ts';
import { NOT_REPLICATED, STEP_LIMIT_MS } from '../harness/test-bed.ts';
import { deed } from '../narration/faults.ts';
import { type StepSentence, told } from '../narration/steps.ts';
import { actorOf, type Course, insideOf, mustBeSo, setting, step } from './course.ts';
import { howEnded } from './endings.ts';
import type { Values } from './sentence.ts';

/** Of a lease, so much may pass until those who wait have asked: what is left must be enough for what comes. */
const LATEST_ASK = 1 / 2;
/** A standstill that may be why masters did not vote in time for a lease to be renewed, in milliseconds: they have 50. */
const VOTE_STANDSTILL_MS = 25;

export const saleSteps = [
  // What a page begins with.
  setting('a lease lasts <time>', ({ time }) => ({ timing: { leaseMs: time } })),
  setting('this is played once for each command of a release', () => ({ playsEachRelease: true })),

  // Sales.
  step('<sale> sells at <node>', async (course, { sale, node }) => {
    sell(course, sale, node);
    return told('came', { sale, node: node.name });
  }),
  step('<sale> sells at <node>, and asks for the lock', async (course, { sale, node }) => {
    await sellAndAsk(course, sale, node);
    return told('asked for the lock', { sale, node: node.name });
  }),
  step('<sale> sells at <node> for <time>', async (course, { sale, node, time }) => {
    await node.script({ pauseMs: time });
    sell(course, sale, node);
    return told('came for', { sale, node: node.name, ms: time });
  }),
  step('<sale> sells at <node> and is held inside', (course, { sale, node }) =>
    sellInside(course, sale, node, { untilResumed: true }),
  ),
  step('<sale> sells at <node> for <time> and is inside', (course, { sale, node, time }) =>
    sellInside(course, sale, node, { pauseMs: time }),
  ),
  step('<sale> sells at <node> and is held inside, to compute for <time> after it', (course, { sale, node, time }) =>
    sellInside(course, sale, node, { untilResumed: true, blockMs: time }),
  ),
  step('<sale> sells at <node> for <time>, and is held before it asks again by <which> lock object', sellNested),
  step(
    '<sale> sells at <node> and is held inside, or waits for <limit>',
    async (course, { sale, node, limit: limitMs }) => {
      await course.say(told('came', { sale, node: node.name }));
      const triesSince = countTries(course, node);
      const { askedAt, inside } = await trySellInside(course, sale, node, { untilResumed: true }, limitMs);
      const tries = triesSince();
      if (inside !== undefined) return howInside(course, sale, inside);
      await course.record.mustHaveWaited(node, askedAt);
      return gaveUp(sale, tries, allWait(course, askedAt));
    },
  ),
  step('<sale> sells at <node> and is held inside, or is refused', async (course, { sale, node }) => {
    const { inside, isRefused } = await trySellInside(course, sale, node, { untilResumed: true });
    if (inside !== undefined) return howInside(course, sale, inside);
    if (!isRefused) throw notInside(node);
    course.ending = 'if A is refused';
    return told('lock not confirmed', { sale });
  }),
  step('<sale> sells at <node>, and gives up after <limit>', async (course, { sale, node, limit }) => {
    await course.say(told('came', { sale, node: node.name }));
    const triesSince = countTries(course, node);
    const { askedAt, sale: running } = sell(course, sale, node);
    const end = await running.endWithin(limit);
    const tries = triesSince();
    if (end.outcome === 'sold') {
      await mustHaveHadVotes(course);
      return howEnded(sale, end);
    }
    await course.record.mustHaveWaited(node, askedAt);
    return gaveUp(sale, tries, end.ms);
  }),
];

export function sell(course: Course, name: string, node: TargetNode) {
  const actor = { node, askedAt: course.clock.now(), sale: course.sales.sell(node, name) };
  course.actors.set(name, actor);
  return actor;
}

/**
 * Sells, and resolves when what the sale has asked of its lock has come there, with what it recorded when it began to wait. Throws
 * NotStagedError when it does not ask.
 */
export async function sellAndAsk(course: Course, name: string, node: TargetNode): Promise<SaleEvent> {
  const { askedAt } = sell(course, name, node);
  const ask = () => course.record.eventsAt(node).find(({ type, at }) => type === 'waiting' && at >= askedAt);
  const asks = await course.record.mustSee(ask, STEP_LIMIT_MS, `${node.name} did not ask for the lock.`);
  await course.lock.hasAsked(node);
  return asks;
}

/** Sells as the script says. Throws NotStagedError when the sale is not inside soon. */
async function sellInside(course: Course, name: string, node: TargetNode, script: SaleScript) {
  const { inside } = await trySellInside(course, name, node, script);
  if (inside === undefined) throw notInside(node);
  course.faultAt = course.clock.now();
  return howInside(course, name, inside);
}

/**
 * Sells as the script says. The sale is not inside when the lock has kept it out for `limitMs`, and its client has hung up, or when no replica
 * has confirmed its lock. Throws NotStagedError when it has ended otherwise.
 */
async function trySellInside(
  course: Course,
  name: string,
  node: TargetNode,
  script: SaleScript,
  limitMs = STEP_LIMIT_MS,
) {
  const { held } = await node.state();
  await course.record.catchUp([node]);
  const others = new Set(course.record.eventsAt(node).map(({ saleId }) => saleId));
  await node.script(script);
  const { sale, askedAt } = sell(course, name, node);
  const actor = actorOf(course, name);
  const findInside = () =>
    course.record.eventsAt(node).find((event) => event.at >= askedAt && !others.has(event.saleId) && isInside(event));
  await course.record.until(() => findInside() ?? sale.ended, limitMs);
  actor.inside = findInside();
  if (actor.inside === undefined) {
    const end = sale.ended;
    const isRefused = end !== undefined && 'code' in end && end.code === NOT_REPLICATED;
    if (end && end.outcome !== 'lockTimeout' && !isRefused) throw notInside(node, end);
    sale.hangUp();
    await sale.end;
    return { ...actor, isRefused };
  }
  actor.isHeld = script.untilResumed ?? script.beforeNestedCall ?? false;
  // A sale without a lock has begun, and comes to its business later: what is resumed before that is not held yet.
  if (actor.isHeld)
    await course.record.waitFor(async () => sale.ended || (await node.state()).held > held || undefined, limitMs);
  const { inside } = actor;
  if (course.record.eventsAt(node).some((event) => event.type === 'left' && isSame(event, inside)))
    throw notInside(node);
  return { ...actor, isRefused: false };
}

/**
 * A sale under a lock has read the stock by the time it can be broken; one without a lock reads it in its only step. One that finds
 * nothing left does not stay.
 */
const isInside = ({ type, stock }: SaleEvent) => (type === 'read' && stock !== 0) || type === 'began';

/** A sale is not inside that is to be. */
function notInside({ name }: TargetNode, end?: SaleEnd) {
  const answer = end && 'code' in end ? `: it was answered ${end.code}` : '';
  return new NotStagedError(`The sale on ${name} did not stay inside${answer}.`);
}

async function sellNested(course: Course, { sale, node, time, which }: Values<'sale' | 'node' | 'time' | 'which'>) {
  const { leaseMs } = course;
  const nestedCall = which === 'the same' ? true : 'another object';
  const script = { beforeNestedCall: true, nestedCall, pauseMs: time } as const;
  const said = await sellInside(course, sale, node, script);
  const inside = insideOf(course, sale);
  course.mark(deed('asks again'), { sale: inside });
  mustBeSo(course, ({ events }) => {
    const own = events.filter((event) => isSame(event, inside));
    const [entered, again] = ['entered', 'nested'].map((type) => own.find((event) => event.type === type)?.at);
    if (again === undefined) return 'The sale did not ask for its own lock again.';
    const isEarly = entered === undefined || again - entered <= leaseMs * LATEST_ASK;
    return isEarly || 'The sale asked again when its lease was about to end.';
  });
  return said;
}

/** Nobody else has got in since then. Returns for how long, in milliseconds. */
export function allWait(course: Course, since: number): number {
  course.ending = 'if all waited';
  const keptOutMs = course.clock.now() - since;
  Object.assign(course.figures, { keptOutMs });
  return keptOutMs;
}

/** Says what is known of a sale that is inside: without a lock it may not have read the stock yet. */
function howInside(course: Course, sale: string, inside: SaleName): StepSentence {
  const { node } = inside;
  const read = course.record.events().find((event) => event.type === 'read' && isSame(event, inside));
  if (read?.stock === undefined) return told('began', { sale, node });
  return told(hasLock(course.stage) ? 'got in' : 'read', { sale, node, stock: read.stock });
}

/**
 * Counts how often a node asks for the lock from now on, on behalf of the sale that comes next. What is returned tells it: 0 where it can't
 * be read, or others wait there as well.
 */
export function countTries(course: Course, node: TargetNode): () => number {
  const before = course.lock.triesOf(node);
  const isAlone = course.record.waitingAt(node) === 0;
  return () => (isAlone ? course.lock.triesOf(node) - before : 0);
}

const gaveUp = (sale: string, tries: number, ms: number) =>
  tries > 0 ? told('gave up', { sale, tries, ms }) : told('waited in vain', { sale, ms });

/** Masters that had no time to vote for one who is inside may have given its lock away. Throws NotStagedError. */
async function mustHaveHadVotes({ actors, lock, mustHaveGoneOn }: Course) {
  const isHeld = [...actors.values()].some((actor) => actor.isHeld);
  if (isHeld && lock.masterCount > 0) await mustHaveGoneOn(VOTE_STANDSTILL_MS);
}
