// A sale hangs between read and write while its process lives, as when a partner's service never answers. Does the shop stand
// still?

import { formatDuration } from '../evidence/numbers.ts';
import { sharedClock } from '../harness/clock.ts';
import { type Judgement, notStaged, type StepDrill } from '../harness/step-drill.ts';
import { backendOfRow } from '../staircase/lookup.ts';

/** A standstill that may be why masters did not vote in time for a lease to be renewed, in milliseconds: they have 50. */
const VOTE_STANDSTILL_MS = 25;

export const hungHolder: StepDrill = {
  name: 'hung-holder',
  async run(testBed): Promise<Judgement> {
    const { first, second, leaseMs } = testBed;
    const hung = await testBed.sellInside(first, { untilResumed: true });
    const hungAt = sharedClock();
    const hang = testBed.mark('hangs', { sale: hung });
    await testBed.step(`Sale ${hung.saleId} on ${first.name} ${testBed.soFar}, and hangs. Its process lives.`);

    const limitMs = 3 * leaseMs;
    await testBed.say(`${second.name} wants to sell.`);
    const askedAt = sharedClock();
    const end = await testBed.sellWithin(second, limitMs);
    const takeoverMs = sharedClock() - hungAt;
    await testBed.mustBeInside(hung);
    hang.over();

    const standstillMs = testBed.standstillMs();
    if (end.outcome === 'sold' && backendOfRow(testBed.stage) === 'masters' && standstillMs > VOTE_STANDSTILL_MS) {
      const reason = `The machine was too busy to renew the lease: for ${formatDuration(standstillMs)} nothing went on.`;
      return notStaged(reason, { isLate: true });
    }
    if (end.outcome === 'sold') {
      const reason = `${second.name} sold ${formatDuration(takeoverMs)} after the other sale had begun to hang.`;
      return { verdict: 'pass', reason, figures: { takeoverMs }, witnesses: [] };
    }
    await testBed.mustHaveWaited(second, askedAt);
    await testBed.say(`${second.name} has waited for ${formatDuration(limitMs)} and gives up.`);
    const reason = `${second.name} could not sell within ${formatDuration(limitMs)}: the sale that hangs still has the lock.`;
    return { verdict: 'fail', reason, figures: { keptOutMs: end.ms }, witnesses: [] };
  },
};
