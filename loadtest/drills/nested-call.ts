// Inside the sale the business asks for the same lock again, as a function that calls another one does. Does it wait for
// itself?

import { formatDuration } from '../evidence/numbers.ts';
import { overlapsOf } from '../evidence/overlaps.ts';
import { type Judgement, notStaged, type StepDrill } from '../harness/step-drill.ts';

export const nestedCall: StepDrill = {
  name: 'nested-call',
  async run(testBed): Promise<Judgement> {
    const { first, second, leaseMs } = testBed;
    const pauseMs = Math.round(leaseMs / 3);
    const nested = await testBed.sellInside(first, { nestedCall: true, pauseMs });
    testBed.mark('asks again', { sale: nested });
    await testBed.say(`Sale ${nested.saleId} on ${first.name} holds the lock and asks for it again.`);
    const other = testBed.sell(second);
    await testBed.say(`${second.name} asks for it as well.`);

    const timer = setTimeout(nested.hangUp, 2 * leaseMs);
    const end = await nested.end;
    clearTimeout(timer);
    await other.end;
    const outcome = await testBed.outcome();
    const asked = outcome.events.find(({ type, node }) => type === 'waiting' && node === second.name);
    const left = outcome.events.find(
      ({ type, node, saleId }) => type === 'left' && node === first.name && saleId === nested.saleId,
    );
    if (!outcome.events.some(({ type, saleId }) => type === 'nested' && saleId === nested.saleId)) {
      return notStaged('The sale did not ask for its own lock again.');
    }
    if (asked === undefined || left === undefined || asked.at > left.at) {
      return notStaged(`${second.name} did not ask for the lock while it was held.`);
    }
    const { overlaps, witnesses } = overlapsOf(outcome);
    const figures = { answeredMs: end.ms, overlaps };

    if (end.outcome !== 'sold' || end.ms >= leaseMs) {
      const reason = `The holder waited for itself: after ${formatDuration(end.ms)} ${end.outcome === 'sold' ? 'its own lease had ended' : 'it had not sold'}.`;
      return { verdict: 'fail', reason, figures, witnesses: [] };
    }
    if (overlaps > 0) {
      const reason = 'Another holder entered before the sale had left: the outer lock did not hold.';
      return { verdict: 'fail', reason, figures, witnesses };
    }
    const reason = `Answered in ${formatDuration(end.ms)}, and the outer lock held after the inner release.`;
    return { verdict: 'pass', reason, figures, witnesses: [] };
  },
};
