// The whole process stops between read and write, as in a long garbage collection, and wakes up with a stale write. Does it
// undo the sales made meanwhile?

import { sharedClock } from '../harness/clock.ts';
import { judgeDuringFault, sellDuringFault } from '../harness/sell-during-fault.ts';
import { type Judgement, notStaged, type StepDrill } from '../harness/step-drill.ts';

export const pausedProcess: StepDrill = {
  name: 'paused-process',
  needs: ['node processes'],
  async run(testBed): Promise<Judgement> {
    const { first, second, leaseMs } = testBed;
    const paused = await testBed.sellInside(first, { pauseMs: leaseMs });
    const pause = testBed.mark('SIGSTOP', { node: first, standsStill: true });
    const process = testBed.pause(first);
    await testBed.step(
      `Sale ${paused.saleId} on ${first.name} ${testBed.soFar}; now the process is stopped (SIGSTOP).`,
    );

    await testBed.say(`${second.name} sells what it can, for 2.5 leases.`);
    const meanwhile = await sellDuringFault(testBed);
    await testBed.step(`${second.name} has sold ${meanwhile.soldMeanwhile} units meanwhile.`);
    const resumedAt = sharedClock();
    process.resume();
    pause.over();
    await testBed.say(`${first.name} goes on (SIGCONT), and its write is due.`);

    const outcome = await testBed.outcome();
    // Not every lock lets it write, so its leaving is looked at.
    const left = outcome.events.find(
      ({ type, node, saleId }) => type === 'left' && node === first.name && saleId === paused.saleId,
    );
    if (left === undefined || left.at < resumedAt) return notStaged('The write did not fall into the pause.');
    return judgeDuringFault(outcome, meanwhile);
  },
};
