// When a lock holds in a scenario: what is asked of the history in the end, and the figures that it rests on.

import { type Hold, holdsOf, isSame, type StepHistory, spansOf } from '../evidence/history.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import { countOf, formatDuration } from '../evidence/numbers.ts';
import { describeOverlap, overlapsBetween } from '../evidence/overlaps.ts';
import { readStock } from '../evidence/stock.ts';
import type { TestBed } from '../harness/test-bed.ts';
import { actorOf, type Course, insideOf, msOf } from './course.ts';
import type { Filled, Known } from './sentence.ts';

export interface Finding {
  /** What is wrong, as a sentence; undefined when nothing is. */
  wrong?: string | undefined;
  /** What there is to say when nothing is wrong. */
  right?: string;
  figures: Record<string, number>;
  witnesses: string[];
  /** Which holders may not meet; all of them when it is not given. */
  isJudged?: (hold: Hold) => boolean;
}

/** What must be so in the end. Throws NotStagedError when it can't be told. */
export type Demand = (course: Course, outcome: StepHistory) => Finding | Promise<Finding>;

/** A sale whose business takes six leases may take so much less, in leases: its clock starts later. */
const ROUNDED = 0.1;
/** So many standstills of a machine may be in what takes long: each step waits for the one before it. */
const DELAYS = 5;

export function demand<Form extends string>(
  form: Form,
  judge: (course: Course, outcome: StepHistory, filled: Filled<Form>) => Finding | Promise<Finding>,
): Known<Demand> {
  return { form, means: (filled) => (course, outcome) => judge(course, outcome, filled as Filled<Form>) };
}

export const demands: Known<Demand>[] = [
  demand('no sale is lost', ({ wroteLate, soldMeanwhile, keptOutMs }, outcome) => {
    const { lostUpdates, sold, inDoubt, finalStock, expectedStock, witnesses } = readStock(outcome, wroteLate);
    const figures = {
      lostUpdates,
      sold,
      inDoubt,
      ...(soldMeanwhile !== undefined && { soldMeanwhile }),
      ...(keptOutMs !== undefined && { keptOutMs }),
      finalStock,
      expectedStock,
    };
    // Of those in doubt it is known of some that they have written.
    const wrong =
      lostUpdates > 0 ? `The stock is ${finalStock} instead of ${finalStock - lostUpdates} at most` : undefined;
    return { wrong, figures, witnesses };
  }),
  demand('no two are inside at the same moment', (course, outcome) =>
    judgeMeetings(course, outcome, holdsOf(outcome.events)),
  ),
  demand('no two at <node> are inside at the same moment', (course, outcome, { node }) => {
    const isJudged = (hold: Hold) => hold.node === node;
    const finding = judgeMeetings(course, outcome, holdsOf(outcome.events).filter(isJudged));
    if (finding.wrong === undefined && course.keptOutMs === undefined) mustHaveBeenAsked(course, outcome, node);
    return { ...finding, isJudged };
  }),
  demand('no two but <sale> are inside at the same moment, from when it goes on', judgeOthers),
  demand(
    '<sale> and <other> stay inside for <time>, and no two are inside at the same moment',
    (course, outcome, { time }) => {
      const { leaseMs } = course.testBed;
      const leastMs = msOf(time, leaseMs) - ROUNDED * leaseMs;
      const spans = spansOf(outcome.events);
      if (spans.length < 2 || spans.some(({ entered, left }) => left - entered < leastMs)) {
        throw new NotStagedError(`Not every sale stayed inside for ${time}.`);
      }
      return judgeMeetings(course, outcome, holdsOf(outcome.events));
    },
  ),
  demand('<sale> is sold', async (course, _outcome, { sale: name }): Promise<Finding> => {
    const { faultAt } = course;
    const { node, sale } = actorOf(course, name);
    const end = await sale.end;
    if (end.outcome !== 'sold') {
      const wrong = `${node.name} could not sell within ${formatDuration(end.ms)}`;
      return { wrong, figures: { keptOutMs: end.ms }, witnesses: [] };
    }
    const takeoverMs = end.sentAt + end.ms - faultAt;
    const right = `${node.name} sold ${formatDuration(takeoverMs)} after the fault.`;
    return { right, figures: { takeoverMs }, witnesses: [] };
  }),
  demand('<sale> is sold within <time>', async (course, _outcome, { sale: name, time }) => {
    const limitMs = msOf(time, course.testBed.leaseMs);
    const { outcome, ms } = await actorOf(course, name).sale.end;
    const isSold = outcome === 'sold';
    await mustHaveHadTime(course.testBed, ms - limitMs);
    const how = `${name} ${isSold ? 'was sold' : 'was not sold'} within ${formatDuration(ms)}`;
    const isWrong = !isSold || ms > limitMs;
    return { right: how, wrong: isWrong ? how : undefined, figures: { nextSaleMs: ms }, witnesses: [] };
  }),
  demand('<sale> does not wait for itself', async (course, _outcome, { sale: name }) => {
    const { sale, wentOn } = actorOf(course, name);
    const end = await sale.end;
    const answeredMs = end.sentAt + end.ms - (wentOn?.at ?? end.sentAt);
    const figures = { answeredMs };
    if (end.outcome === 'sold' && answeredMs < course.testBed.leaseMs) {
      return { right: `${name} was answered in ${formatDuration(answeredMs)}.`, figures, witnesses: [] };
    }
    const how = end.outcome === 'sold' ? 'its own lease had ended' : 'it had not sold';
    const wrong = `${name} waited for itself: after ${formatDuration(answeredMs)} ${how}.`;
    return { wrong, figures, witnesses: [] };
  }),
];

/** What came so much too late, in milliseconds, came late by itself. Throws NotStagedError where the machine may be why. */
export async function mustHaveHadTime(testBed: TestBed, lateMs: number) {
  const standstillMs = await testBed.standstillSoFarMs();
  if (lateMs <= 0 || lateMs > DELAYS * standstillMs) return;
  const reason = `The machine was too busy to tell who is late: for ${formatDuration(standstillMs)} nothing went on.`;
  throw new NotStagedError(reason);
}

function judgeMeetings(
  { testBed, actors, keptOutMs }: Course,
  { events, startedAt }: StepHistory,
  holds: Hold[],
): Finding {
  const meetings = overlapsBetween(holds);
  for (const { inside, wentOn } of actors.values()) {
    const hold = spansOf(events).find((span) => inside !== undefined && wentOn !== undefined && isSame(span, inside));
    if (hold === undefined || hold.left - hold.entered < testBed.leaseMs) continue;
    const reason = `Sale ${hold.saleId} on ${hold.node} stayed longer than its own lease, which proves nothing.`;
    throw new NotStagedError(reason);
  }
  return {
    wrong:
      meetings.length > 0
        ? `Two holders were inside at the same moment: ${countOf(meetings.length, 'pair')}.`
        : undefined,
    figures: { overlaps: meetings.length, ...(keptOutMs !== undefined && { keptOutMs }) },
    witnesses: meetings.map((meeting) => describeOverlap(meeting, startedAt)),
  };
}

/** Somebody must have asked for the lock while one of this node was held inside. */
function mustHaveBeenAsked({ actors }: Course, { events }: StepHistory, node: string) {
  const held = [...actors.values()].flatMap(({ inside }) => (inside?.node === node ? [inside] : []));
  const holds = holdsOf(events).filter((hold) => held.some((each) => isSame(hold, each)));
  const isAsking = ({ entered, left }: Hold) =>
    events.some((event) => event.type === 'waiting' && event.node === node && event.at > entered && event.at < left);
  if (holds.some(isAsking)) return;
  throw new NotStagedError('Nobody asked for the lock when the release arrived.');
}

/** A holder that was too slow goes on while another is inside: from then on no two of the others may meet. */
async function judgeOthers(
  course: Course,
  { events, startedAt }: StepHistory,
  { sale: name }: { sale: string },
): Promise<Finding> {
  const { leaseMs } = course.testBed;
  const { enteredMeanwhile = 0, keptOutMs } = course;
  const slow = insideOf(course, name);
  const { wentOn, sale } = actorOf(course, name);
  const { at: awakeAt, leaseLeftMs } = wentOn ?? { at: startedAt, leaseLeftMs: 0 };
  const end = await sale.end;
  const goneAt = end.sentAt + end.ms;
  const isJudged = (hold: Hold) => !isSame(hold, slow);
  const others = holdsOf(events).filter((hold) => isJudged(hold) && hold.left > awakeAt);
  // Short enough to end within its lease, and long enough for others to come.
  const there = others.find(({ entered, left }) => entered <= awakeAt && left - entered >= leaseMs / 4);
  if (enteredMeanwhile > 0 && (leaseLeftMs < leaseMs / 4 || there === undefined)) {
    throw new NotStagedError('Nobody else held the lock when the slow holder left.');
  }
  // A sale that enters while the lease of the one inside still runs was let in by the slow one. Later ones may be right.
  const meetings = overlapsBetween(others).filter(({ from }) => from >= awakeAt && from <= awakeAt + leaseLeftMs);
  const isAsked = events.some(({ type, at }) => type === 'waiting' && at > goneAt && at < (there?.left ?? 0));
  if (enteredMeanwhile > 0 && meetings.length === 0 && !isAsked) {
    throw new NotStagedError('The slow holder left too late: nobody asked for the lock of the next one.');
  }
  return {
    wrong: meetings.length > 0 ? '' : undefined,
    figures: { overlaps: meetings.length, enteredMeanwhile, ...(keptOutMs !== undefined && { keptOutMs }) },
    witnesses: meetings.map((meeting) => describeOverlap(meeting, startedAt)),
    isJudged,
  };
}
