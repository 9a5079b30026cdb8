// Every sale takes 1.5 leases, as on a day when the payment service is slow. Do two of them ever meet?

import { spansOf } from '../evidence/history.ts';
import { overlapsOf } from '../evidence/overlaps.ts';
import { readStock } from '../evidence/stock.ts';
import { type Judgement, notStaged, type StepDrill } from '../harness/step-drill.ts';

const SALES = 3;

export const longSale: StepDrill = {
  name: 'long-sale',
  async run(testBed): Promise<Judgement> {
    const { first, second, leaseMs } = testBed;
    const script = { pauseMs: Math.round(1.5 * leaseMs), times: SALES };
    await first.script(script);
    await second.script(script);
    await testBed.say(`${SALES} sales at once, over both nodes; each stays inside for 1.5 leases.`);
    for (let sale = 0; sale < SALES; sale += 1) testBed.sell(sale % 2 ? first : second);

    const outcome = await testBed.outcome();
    const { lostUpdates, sold, inDoubt, witnesses } = readStock(outcome);
    const { overlaps, witnesses: meetings } = overlapsOf(outcome);
    const figures = { lostUpdates, overlaps, sold, inDoubt };
    await testBed.say(`All have ended: ${sold} sold, ${inDoubt} in doubt.`);
    const spans = spansOf(outcome.events);
    if (spans.length < SALES || spans.some(({ entered, left }) => left - entered < 1.4 * leaseMs)) {
      return notStaged('Not every sale stayed inside for 1.5 leases.');
    }
    if (lostUpdates > 0 || overlaps > 0) {
      const reason = `Two holders inside at the same moment: ${overlaps} pairs. Sales lost: at least ${lostUpdates}.`;
      return { verdict: 'fail', reason, figures, witnesses: [...witnesses, ...meetings] };
    }
    return { verdict: 'pass', reason: `${sold} sales one after the other, and none was lost.`, figures, witnesses };
  },
};
