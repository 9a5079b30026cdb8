// When a lock holds in a scenario: what is asked of the history in the end, and the figures that it rests on.

import { type Hold, holdsOf, isSame, type StepHistory, spansOf } from '../evidence/history.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import { describeOverlap, overlapsBetween } from '../evidence/overlaps.ts';
import { readStock } from '../evidence/stock.ts';
import { countOf, formatDuration } from '../narration/numbers.ts';
import { actorOf, type Course, demand, insideOf } from './course.ts';
import type { Finding } from './sentence.ts';

/** A sale whose business takes six leases may take so much less, in leases: its clock starts later. */
const ROUNDED = 0.1;
/** So many standstills of a machine may be in what takes long: each step waits for the one before it. */
const DELAYS = 5;

export const demands = [
  demand('no sale is lost', ({ wroteLate }, outcome) => {
    const { witnesses, ...figures } = readStock(outcome, wroteLate);
    const { lostUpdates, finalStock } = figures;
    // Of those in doubt it is known of some that they have written.
    const wrong = lostUpdates > 0 && `The stock is ${finalStock} instead of ${finalStock - lostUpdates} at most`;
    return { wrong, figures, witnesses };
  }),
  demand('no two are inside at the same moment', (course, outcome) =>
    judgeMeetings(course, outcome, holdsOf(outcome.events)),
  ),
  demand('no two but <sale> are inside at the same moment', (course, outcome, { sale }) => {
    const own = insideOf(course, sale);
    const isJudged = (hold: Hold) => !isSame(hold, own);
    return { ...judgeMeetings(course, outcome, holdsOf(outcome.events).filter(isJudged)), isJudged };
  }),
  demand('<sale> and <other> stay inside for <time>', ({ leaseMs }, { events }, { time }) => {
    const leastMs = time - ROUNDED * leaseMs;
    const spans = spansOf(events);
    if (spans.length >= 2 && spans.every(({ entered, left }) => left - entered >= leastMs)) return {};
    throw new NotStagedError(`Not every sale stayed inside for ${formatDuration(time)}.`);
  }),
  demand('<sale> is sold', async (course, _outcome, { sale: name }): Promise<Finding> => {
    const { faultAt } = course;
    const { node, sale } = actorOf(course, name);
    const end = await sale.end;
    if (end.outcome !== 'sold') {
      const wrong = `${node.name} could not sell within ${formatDuration(end.ms)}`;
      return { wrong, figures: { keptOutMs: end.ms } };
    }
    const takeoverMs = end.sentAt + end.ms - faultAt;
    const right = `${node.name} sold ${formatDuration(takeoverMs)} after the fault.`;
    return { right, figures: { takeoverMs } };
  }),
  demand('<sale> is sold within <time>', async (course, _outcome, { sale: name, time: limitMs }) => {
    const { outcome, ms } = await actorOf(course, name).sale.end;
    const isSold = outcome === 'sold';
    await mustHaveHadTime(course, ms - limitMs);
    const how = `${name} ${isSold ? 'was sold' : 'was not sold'} within ${formatDuration(ms)}`;
    const isWrong = !isSold || ms > limitMs;
    return { right: how, wrong: isWrong && how, figures: { nextSaleMs: ms } };
  }),
  demand('<sale> does not wait for itself', async (course, _outcome, { sale: name }) => {
    const { sale, wentOnAt } = actorOf(course, name);
    const end = await sale.end;
    const answeredMs = end.sentAt + end.ms - (wentOnAt ?? end.sentAt);
    const figures = { answeredMs };
    if (end.outcome === 'sold' && answeredMs < course.leaseMs) {
      return { right: `${name} was answered in ${formatDuration(answeredMs)}.`, figures };
    }
    const how = end.outcome === 'sold' ? 'its own lease had ended' : 'it had not sold';
    const wrong = `${name} waited for itself: after ${formatDuration(answeredMs)} ${how}.`;
    return { wrong, figures };
  }),
];

/** What came so much too late, in milliseconds, came late by itself. Throws NotStagedError where the machine may be why. */
export async function mustHaveHadTime(course: Course, lateMs: number) {
  if (lateMs > 0) await course.mustHaveGoneOn(lateMs / DELAYS);
}

function judgeMeetings({ leaseMs, actors }: Course, { startedAt }: StepHistory, holds: Hold[]): Finding {
  const meetings = overlapsBetween(holds);
  for (const { inside, wentOnAt } of actors.values()) {
    const hold = holds.find((each) => inside !== undefined && wentOnAt !== undefined && isSame(each, inside));
    if (hold === undefined || hold.left - hold.entered < leaseMs) continue;
    const reason = `Sale ${hold.saleId} on ${hold.node} stayed longer than its own lease, which proves nothing.`;
    throw new NotStagedError(reason);
  }
  return {
    wrong: meetings.length > 0 && `Two holders were inside at the same moment: ${countOf(meetings.length, 'pair')}.`,
    figures: { overlaps: meetings.length },
    witnesses: meetings.map((meeting) => describeOverlap(meeting, startedAt)),
  };
}
