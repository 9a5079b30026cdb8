// Every sale takes six leases, as on a day when the payment service is slow. Do two of them ever meet?

import { spansOf } from '../evidence/history.ts';
import { countOf } from '../evidence/numbers.ts';
import { overlapsOf } from '../evidence/overlaps.ts';
import { readStock } from '../evidence/stock.ts';
import { type Judgement, notStaged, type StepDrill } from '../harness/step-drill.ts';

/** One on each node. */
const SALES = 2;
const LEASES = 6;

export const longSale: StepDrill = {
  name: 'long-sale',
  // Short, because sales of so many leases come one after the other.
  timing: { leaseMs: 500 },
  async run(testBed): Promise<Judgement> {
    const { first, second, leaseMs } = testBed;
    const script = { pauseMs: LEASES * leaseMs };
    await first.script(script);
    await second.script(script);
    await testBed.say(`${SALES} sales at once, over both nodes; each stays inside for ${LEASES} leases.`);
    for (let sale = 0; sale < SALES; sale += 1) testBed.sell(sale % 2 ? first : second);

    const outcome = await testBed.outcome();
    const { lostUpdates, sold, inDoubt, witnesses } = readStock(outcome);
    const { overlaps, witnesses: meetings } = overlapsOf(outcome);
    const figures = { lostUpdates, overlaps, sold, inDoubt };
    await testBed.say(`All have ended: ${sold} sold, ${inDoubt} in doubt.`);
    const spans = spansOf(outcome.events);
    if (spans.length < SALES || spans.some(({ entered, left }) => left - entered < (LEASES - 0.1) * leaseMs)) {
      return notStaged(`Not every sale stayed inside for ${LEASES} leases.`, { isLate: true });
    }
    if (lostUpdates > 0 || overlaps > 0) {
      const reason = `Two holders inside at the same moment: ${countOf(overlaps, 'pair')}. Sales lost: at least ${lostUpdates}.`;
      return { verdict: 'fail', reason, figures, witnesses: [...witnesses, ...meetings] };
    }
    return { verdict: 'pass', reason: `${sold} sales one after the other, and none was lost.`, figures, witnesses };
  },
};
