// The business of a sale computes between read and write and never yields, so no timer of its process runs, and no renewal is
// sent. Does its write undo the sales made meanwhile?

import { isSame } from '../evidence/history.ts';
import { formatDuration } from '../evidence/numbers.ts';
import { sharedClock } from '../harness/clock.ts';
import { judgeDuringFault } from '../harness/sell-during-fault.ts';
import { sellMeanwhile } from '../harness/sell-meanwhile.ts';
import { type Judgement, notStaged, type StepDrill } from '../harness/step-drill.ts';

export const blockedLoop: StepDrill = {
  name: 'blocked-loop',
  async run(testBed): Promise<Judgement> {
    const { first, second, leaseMs } = testBed;
    const blockMs = Math.round(2.5 * leaseMs);
    const blocked = await testBed.sellInside(first, { untilResumed: true, blockMs });
    await testBed.step(
      `Sale ${blocked.saleId} on ${first.name} ${testBed.soFar}. Its business computes for 2.5 leases, and never yields.`,
    );
    await testBed.mustBeInside(blocked);

    const block = testBed.mark('event loop blocked', { node: first, standsStill: true });
    const blockedAt = sharedClock();
    await first.resume();
    if (!(await first.isSilentFor(leaseMs / 4))) return notStaged(`The event loop of ${first.name} was not blocked.`);
    await testBed.say(`${first.name} answers nothing. ${second.name} sells what it can.`);
    // It ends before the block does, so that all it has sold is older than the late write.
    const limitMs = blockedAt + 2.25 * leaseMs - sharedClock();
    const soldMeanwhile = await sellMeanwhile(testBed, { saleMs: Math.round(leaseMs / 10), limitMs });
    if (soldMeanwhile === 0) await testBed.mustHaveWaited(second, blockedAt);
    await testBed.say(`${second.name} has sold ${soldMeanwhile} units meanwhile.`);

    await blocked.end;
    const keptOutMs = sharedClock() - blockedAt;
    block.over();
    const outcome = await testBed.outcome();
    // Not every lock lets it write, so its leaving is looked at.
    const left = outcome.events.find((event) => event.type === 'left' && isSame(event, blocked));
    if (left === undefined || left.at < blockedAt + blockMs - 1) {
      return notStaged(`The event loop of ${first.name} was not blocked for ${formatDuration(blockMs)}.`);
    }
    return judgeDuringFault(outcome, { soldMeanwhile, ...(soldMeanwhile === 0 && { keptOutMs }) });
  },
};
