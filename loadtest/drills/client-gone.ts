// Clients lose their patience and hang up while their sales wait. Does anybody still wait for nobody?

import { countOf, formatDuration } from '../evidence/numbers.ts';
import { sharedClock, startTimer, stopTimer } from '../harness/clock.ts';
import { type Judgement, notStaged, type StepDrill } from '../harness/step-drill.ts';

const CLIENTS = 200;
const LIMIT_MS = 1_000;
/** After a standstill as long as this nobody can be called late, in milliseconds. */
const BUSY_MS = LIMIT_MS / 8;
/** The longest that the drill waits for the holder to leave, and for the next sale, in milliseconds: then it has failed. */
const CAP_MS = 5_000;

export const clientGone: StepDrill = {
  name: 'client-gone',
  // A lease that outlasts the drill, so that nobody gets in while the clients hang up.
  timing: { leaseMs: 600_000, waitTimeoutMs: 600_000 },
  async run(testBed): Promise<Judgement> {
    const { first } = testBed;
    const holder = await testBed.sellInside(first, { untilResumed: true });
    const clients = Array.from({ length: CLIENTS }, () => testBed.sell(first));
    const areWaiting = await testBed.waitFor(
      async () => (await first.state()).waiting === CLIENTS || undefined,
      5 * LIMIT_MS,
    );
    if (!areWaiting) return notStaged(`${CLIENTS} sales did not wait at the same time.`);
    await testBed.step(`Sale ${holder.saleId} on ${first.name} is inside, and ${CLIENTS} sales wait for it.`);

    const hungUpAt = sharedClock();
    for (const client of clients) client.hangUp();
    testBed.mark(`${CLIENTS} clients hang up`, { node: first });
    await testBed.say('All those clients hang up.');
    let stillWaiting = CLIENTS;
    let slowestLookMs = 0;
    await testBed.waitFor(async () => {
      const lookedAt = sharedClock();
      stillWaiting = (await first.state()).waiting;
      slowestLookMs = Math.max(slowestLookMs, sharedClock() - lookedAt);
      return stillWaiting === 0 || undefined;
    }, LIMIT_MS);
    const emptyMs = sharedClock() - hungUpAt;

    await testBed.mustBeInside(holder);
    await first.resume();
    const cap = startTimer(holder.hangUp, CAP_MS);
    await holder.end;
    stopTimer(cap);
    const next = await testBed.sellWithin(first, CAP_MS);
    const soldToNobody = Math.max(0, (await first.state()).counts.sold - 1 - Number(next.outcome === 'sold'));
    const figures = { emptyMs, stillWaiting, soldToNobody, nextSaleMs: next.ms };
    const standstillMs = Math.max(slowestLookMs, testBed.standstillMs());
    const isLate = stillWaiting > 0 || next.outcome !== 'sold' || next.ms > LIMIT_MS;
    // A short standstill does not explain a long silence.
    const isCutOff = stillWaiting === 0 && next.outcome === 'cutOff';
    if (isLate && standstillMs > (isCutOff ? CAP_MS / 2 : BUSY_MS)) {
      const reason = `The machine was too busy to tell who waits: for ${formatDuration(standstillMs)} nothing went on.`;
      return notStaged(reason, { isLate });
    }
    if ('code' in next && next.code === 'STORE_UNAVAILABLE') {
      return notStaged('Redis did not answer the next sale, and nobody had stopped it.', { isLate });
    }
    if (stillWaiting > 0) {
      const reason = `${stillWaiting} sales still waited for clients that had hung up ${formatDuration(LIMIT_MS)} before.`;
      return { verdict: 'fail', reason, figures, witnesses: [] };
    }
    if (soldToNobody > 0) {
      const reason = `${countOf(soldToNobody, 'unit')} went to clients that had gone; the next sale took ${formatDuration(next.ms)}.`;
      return { verdict: 'fail', reason, figures, witnesses: [] };
    }
    if (next.outcome !== 'sold' || next.ms > LIMIT_MS) {
      const reason =
        next.outcome === 'cutOff'
          ? `The next sale had no answer within ${formatDuration(CAP_MS)}, and the drill waits no longer.`
          : `The next sale took ${formatDuration(next.ms)} and ended as ${next.outcome}.`;
      return { verdict: 'fail', reason, figures, witnesses: [] };
    }
    const reason = `After ${formatDuration(emptyMs)} nobody waited; the next sale took ${formatDuration(next.ms)}.`;
    return { verdict: 'pass', reason, figures, witnesses: [] };
  },
};
