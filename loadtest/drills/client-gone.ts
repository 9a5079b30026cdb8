// Clients lose their patience and hang up while their sales wait. Does anybody still wait for nobody?

import { formatDuration } from '../evidence/numbers.ts';
import { type Judgement, notStaged, type StepDrill } from '../harness/step-drill.ts';

const CLIENTS = 200;
const LIMIT_MS = 1_000;

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

    const hungUpAt = performance.now();
    for (const client of clients) client.hangUp();
    testBed.mark(`${CLIENTS} clients hang up`, { node: first });
    await testBed.say('All those clients hang up.');
    const isEmpty = await testBed.waitFor(async () => (await first.state()).waiting === 0 || undefined, LIMIT_MS);
    const emptyMs = performance.now() - hungUpAt;
    const stillWaiting = (await first.state()).waiting;

    await testBed.mustBeInside(holder);
    await first.resume();
    await holder.end;
    const next = await testBed.sell(first).end;
    const figures = { emptyMs, stillWaiting, nextSaleMs: next.ms };
    const soldToNobody = (await first.state()).counts.sold - 2;
    if (!isEmpty) {
      const reason = `${stillWaiting} sales still waited for clients that had hung up ${formatDuration(LIMIT_MS)} before.`;
      return { verdict: 'fail', reason, figures, witnesses: [] };
    }
    if (next.outcome !== 'sold' || next.ms > LIMIT_MS || soldToNobody > 0) {
      const reason = `The next sale took ${formatDuration(next.ms)} and ended as ${next.outcome}; ${soldToNobody} units went to nobody.`;
      return { verdict: 'fail', reason, figures, witnesses: [] };
    }
    const reason = `After ${formatDuration(emptyMs)} nobody waited; the next sale took ${formatDuration(next.ms)}.`;
    return { verdict: 'pass', reason, figures, witnesses: [] };
  },
};
