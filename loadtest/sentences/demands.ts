// What a scenario demands at its end: the checks of its history, and the figures behind each verdict.

import {
  type Hold,
  holdsOf,
  isSame,
  overlapSeen,
  overlapsBetween,
  type StepHistory,
  spansOf,
} from '../evidence/history.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import { readStock } from '../evidence/stock.ts';
import { formatDuration } from '../narration/numbers.ts';
import { because } from '../narration/reasons.ts';
import { actorOf, demand, insideOf, type Playing } from './playing.ts';
import type { Finding } from './sentence.ts';

/** How much less than its time a sale may stay inside, in leases: its clock starts later. */
const ROUNDED = 0.1;
/** How many standstills of the machine may add up in a long wait: each step waits for the one before it. */
const DELAYS = 5;

export const demands = [
  demand('no sale is lost', ({ wroteLate, wire }, outcome) => {
    const { evidence, ...figures } = readStock(outcome, { wroteLate, overwrites: wire.overwrites });
    const { lostUpdates, finalStock: stock } = figures;
    // Of those in doubt it is known of some that they have written.
    const wrong = lostUpdates > 0 && because('stock too high', { stock, most: stock - lostUpdates });
    return { wrong, figures, evidence };
  }),
  demand('no two sales are inside at the same moment', (playing, outcome) =>
    judgeMeetings(playing, outcome, holdsOf(outcome.events)),
  ),
  demand('no two sales except <sale> are inside at the same moment', (playing, outcome, { sale }) => {
    const own = insideOf(playing, sale);
    const isJudged = (hold: Hold) => !isSame(hold, own);
    return { ...judgeMeetings(playing, outcome, holdsOf(outcome.events).filter(isJudged)), isJudged };
  }),
  demand('<sale> and <other> stay inside for <time>', ({ leaseMs, wire }, { events }, { time }) => {
    const ms = Math.min(time, wire.longestSaleMs);
    const leastMs = ms - ROUNDED * leaseMs;
    const spans = spansOf(events);
    if (spans.length >= 2 && spans.every(({ entered, left }) => left - entered >= leastMs)) return {};
    throw new NotStagedError(`Not every sale stayed inside for ${formatDuration(ms)}.`);
  }),
  demand('<sale> succeeds', async (playing, _outcome, { sale: name }): Promise<Finding> => {
    const { faultAt } = playing;
    const { node, sale } = actorOf(playing, name);
    const end = await sale.end;
    if (end.outcome !== 'sold') {
      const wrong = because('could not sell', { node: node.name, ms: end.ms });
      return { wrong, figures: { keptOutMs: end.ms } };
    }
    const takeoverMs = end.sentAt + end.ms - faultAt;
    const right = because('sold after the fault', { node: node.name, ms: takeoverMs });
    return { right, figures: { takeoverMs } };
  }),
  demand('<sale> succeeds within <time>', async (playing, _outcome, { sale, time: limitMs }) => {
    const { outcome, ms } = await actorOf(playing, sale).sale.end;
    const isSold = outcome === 'sold';
    await mustHaveHadTime(playing, ms - limitMs);
    const how = because(isSold ? 'was sold' : 'was not sold', { sale, ms });
    const isWrong = !isSold || ms > limitMs;
    return { right: how, wrong: isWrong && how, figures: { nextSaleMs: ms } };
  }),
  demand('<sale> does not wait for itself', async (playing, _outcome, { sale: name }) => {
    const { sale, wentOnAt } = actorOf(playing, name);
    const end = await sale.end;
    const answeredMs = end.sentAt + end.ms - (wentOnAt ?? end.sentAt);
    const figures = { answeredMs };
    if (end.outcome === 'sold' && answeredMs < playing.leaseMs) {
      return { right: because('was answered', { sale: name, ms: answeredMs }), figures };
    }
    const how = end.outcome === 'sold' ? 'waited for its own lease' : 'waited for itself';
    return { wrong: because(how, { sale: name, ms: answeredMs }), figures };
  }),
  // Those of two users have nothing to wait for.
  demand('<sale> enters while <other> is inside', ({ actors }, { events }, { sale, other }) => {
    const [own, its] = [sale, other].map((name) =>
      spansOf(events).find((span) => actors.get(name)?.inside && isSame(span, insideOf({ actors } as Playing, name))),
    );
    const isBeside = own !== undefined && its !== undefined && own.entered < its.left;
    return {
      right: because('got in beside', { sale, other }),
      wrong: !isBeside && because('was kept out', { sale, other }),
    };
  }),
];

/** Throws NotStagedError when the machine may be the reason why something was so many milliseconds late. */
export async function mustHaveHadTime(playing: Playing, lateMs: number) {
  if (lateMs > 0) await playing.mustHaveGoneOn(lateMs / DELAYS);
}

/** Whether no sale was lost. Throws NotStagedError when a response does not say whether its sale took place. */
function hasLostNothing(outcome: StepHistory, overwrites: boolean): boolean {
  const { lostUpdates, inDoubt } = readStock(outcome, { overwrites });
  if (lostUpdates === 0 && inDoubt > 0)
    throw new NotStagedError('Two sales read the stock at the same moment, and one of them was not told its outcome.');
  return lostUpdates === 0;
}

function judgeMeetings({ leaseMs, actors, wire }: Playing, outcome: StepHistory, holds: Hold[]): Finding {
  const meetings = overlapsBetween(holds);
  for (const { inside, wentOnAt } of actors.values()) {
    const hold = holds.find((each) => inside !== undefined && wentOnAt !== undefined && isSame(each, inside));
    if (hold === undefined || hold.left - hold.entered < leaseMs) continue;
    const reason = `Sale ${hold.saleId} on ${hold.node} stayed longer than its own lease, so this run proves nothing.`;
    throw new NotStagedError(reason);
  }
  // Who has read may still be refused: on the wire it is a fault when a unit is lost by it.
  const isHarmless = !wire.nodesTell && meetings.length > 0 && hasLostNothing(outcome, wire.overwrites);
  return {
    wrong: meetings.length > 0 && !isHarmless && because('two were inside', { pairs: meetings.length }),
    ...(isHarmless && { right: because('met and lost nothing', { pairs: meetings.length }) }),
    figures: { overlaps: meetings.length },
    evidence: meetings.map((meeting) => overlapSeen(meeting, outcome.startedAt)),
  };
}
