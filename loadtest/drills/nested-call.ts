// Inside the sale the business asks for the same lock again, as a function that calls another one does: first by the same lock
// object, then by another one of the same request. Does it wait for itself?

import { formatDuration } from '../evidence/numbers.ts';
import { overlapsOf } from '../evidence/overlaps.ts';
import { sharedClock, startTimer, stopTimer } from '../harness/clock.ts';
import { type Judgement, notStaged, type StepDrill } from '../harness/step-drill.ts';
import type { TestBed } from '../harness/test-bed.ts';

type How = 'the same object' | 'another object';

/** Of the lease, so much may pass until others wait: what is left must be enough for what comes. */
const LATEST = 1 / 2;

export const nestedCall: StepDrill = {
  name: 'nested-call',
  async run(testBed): Promise<Judgement> {
    const same = await playRound(testBed, 'the same object');
    if (same.verdict !== 'pass') return same;
    const another = await playRound(testBed, 'another object');
    if (another.verdict !== 'pass') return another;
    const [sameMs = 0, anotherMs = 0] = [same.figures['answeredMs'], another.figures['answeredMs']];
    const reason = `Answered in ${formatDuration(sameMs)}, and by another lock object of the same request in ${formatDuration(anotherMs)}; the outer lock held after the inner release.`;
    return {
      verdict: 'pass',
      reason,
      figures: { answeredMs: Math.max(sameMs, anotherMs), overlaps: 0 },
      witnesses: [],
    };
  },
};

/** A sale is inside, others wait on both nodes, and it asks again. */
async function playRound(testBed: TestBed, how: How): Promise<Judgement> {
  const { first, second, leaseMs } = testBed;
  const startedAt = sharedClock();
  const nestedCall = how === 'the same object' || how;
  const pauseMs = Math.round(leaseMs / 3);
  const nested = await testBed.sellInside(first, { beforeNestedCall: true, nestedCall, pauseMs });
  const others = [first, second].map((node) => testBed.sell(node));
  const areWaiting = await testBed.waitFor(async () => {
    const [own, other] = [await first.state(), await second.state()];
    // Where nobody waits for a lock they are through already.
    const haveAsked = own.waiting + own.counts.sold > 0 && other.waiting + other.counts.sold > 0;
    return haveAsked || undefined;
  }, leaseMs * LATEST);
  if (!areWaiting) return notStaged('The others did not ask for the lock in time.', { isLate: true });
  testBed.mark(`asks again by ${how}`, { sale: nested });
  await testBed.say(`Sale ${nested.saleId} on ${first.name} holds the lock, and others wait on both nodes.`);
  await testBed.say(
    `It asks for the lock again, by ${how === 'the same object' ? 'the same lock object' : 'another lock object'}.`,
  );
  const askedAt = sharedClock();
  await first.resume();

  const timer = startTimer(nested.hangUp, 2 * leaseMs);
  const end = await nested.end;
  stopTimer(timer);
  const answeredMs = sharedClock() - askedAt;
  for (const other of others) await other.end;
  const outcome = await testBed.outcome();
  const own = outcome.events.filter(({ node, saleId }) => node === first.name && saleId === nested.saleId);
  const [entered, again, left] = ['entered', 'nested', 'left'].map((type) => own.find((event) => event.type === type));
  const asked = outcome.events.filter(({ type, at }) => type === 'waiting' && at > startedAt && left && at < left.at);
  const waited = (name: string) => asked.some((event) => event.node === name && !own.some(({ at }) => at === event.at));
  if (again === undefined) return notStaged('The sale did not ask for its own lock again.');
  for (const { name } of [second, first]) {
    if (!waited(name)) return notStaged(`${name} did not ask for the lock while it was held.`);
  }
  if (entered !== undefined && again.at - entered.at > leaseMs * LATEST) {
    return notStaged('The sale asked again when its lease was about to end.', { isLate: true });
  }
  const { overlaps, witnesses } = overlapsOf(outcome, ({ entered }) => entered >= startedAt);
  const figures = { answeredMs, overlaps };

  if (end.outcome !== 'sold' || answeredMs >= leaseMs) {
    const until = `after ${formatDuration(answeredMs)} ${end.outcome === 'sold' ? 'its own lease had ended' : 'it had not sold'}`;
    const reason =
      how === 'the same object'
        ? `The holder waited for itself: ${until}.`
        : `The holder waited for itself when it asked by another lock object of the same request: ${until}. By the same object it does not.`;
    return { verdict: 'fail', reason, figures: { answeredMs }, witnesses: [] };
  }
  if (overlaps > 0) {
    const reason = `Another holder entered before the sale had left: the outer lock did not hold after it was asked for again by ${how}.`;
    return { verdict: 'fail', reason, figures, witnesses };
  }
  return { verdict: 'pass', reason: '', figures, witnesses: [] };
}
