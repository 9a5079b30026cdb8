// The wall clock of a server that has granted the lock jumps ahead by more than a lease, and so the lease is over there. Is a sale lost?

import { formatDuration } from '../evidence/numbers.ts';
import { overlapsOf } from '../evidence/overlaps.ts';
import { readStock } from '../evidence/stock.ts';
import { sellDuringHold } from '../harness/sell-during-hold.ts';
import { type Judgement, notStaged, type StepDrill } from '../harness/step-drill.ts';

/** By how much more than a lease the clock jumps, in milliseconds. */
const BEYOND_MS = 10_000;
/** How long the others try to sell, in milliseconds. */
const SELLING_MS = 2_000;

export const clockJump: StepDrill = {
  name: 'clock-jump',
  needs: ['links', 'clock server'],
  // A lease that outlasts the drill: a sale that enters, enters because of the clock.
  timing: { leaseMs: 30_000 },
  async run(testBed): Promise<Judgement> {
    const { first, masterCount, leaseMs } = testBed;
    const clock = await testBed.lendClock();
    const quorum = Math.floor(masterCount / 2) + 1;
    const others = Array.from({ length: Math.max(0, masterCount - quorum) }, (_, index) => quorum + index);
    const lines = testBed.cutMasters(first, others);
    if (masterCount > 0) await testBed.step(`${first.name} does not reach ${others.length} of ${masterCount} masters.`);
    const holder = await testBed.sellInside(first, { untilResumed: true });
    if (masterCount > 0 && (await testBed.votesFor(first)) !== quorum) {
      return notStaged(`${first.name} did not have the votes of ${quorum} masters.`);
    }
    await testBed.step(`Sale ${holder.saleId} on ${first.name} ${testBed.soFar}.`);

    await clock.jump(leaseMs + BEYOND_MS);
    const server = masterCount > 0 ? `master ${quorum}` : 'Redis';
    testBed.mark(`clock of ${server} jumps`);
    const jump = formatDuration(leaseMs + BEYOND_MS);
    await testBed.say(`The wall clock of ${server} jumps ahead by ${jump}; a lease is ${formatDuration(leaseMs)}.`);

    const soldMeanwhile = await sellDuringHold(testBed, holder, SELLING_MS);
    lines.restore();
    await first.resume();
    await holder.end;

    const outcome = await testBed.outcome();
    const { overlaps, witnesses: meetings } = overlapsOf(outcome);
    const { lostUpdates, finalStock, expectedStock, witnesses } = readStock(outcome);
    const figures = { lostUpdates, overlaps, soldMeanwhile, finalStock, expectedStock };
    const meanwhile = `${soldMeanwhile} units were sold while sale ${holder.saleId} was inside`;
    if (lostUpdates > 0) {
      const reason = `The lease was over by the clock of ${server} alone: ${meanwhile}. The stock is ${finalStock} instead of ${expectedStock} at most.`;
      return { verdict: 'fail', reason, figures, witnesses: [...witnesses, ...meetings] };
    }
    const reason =
      soldMeanwhile > 0
        ? `${meanwhile}, and its late write undid none of them.`
        : 'Nobody got in, and no sale was lost.';
    return { verdict: 'pass', reason, figures, witnesses: [] };
  },
};
