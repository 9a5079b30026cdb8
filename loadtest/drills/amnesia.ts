// A holder has a bare majority of the votes, and one of those masters restarts empty. Does a second majority let another in?

import { judgeDuringHold, sellDuringHold } from '../harness/sell-during-hold.ts';
import { type Judgement, notStaged, type StepDrill } from '../harness/step-drill.ts';

/** How long the others try to sell, in milliseconds. */
const SELLING_MS = 2_000;

/** How long the second node may take to reach the master that has restarted, in milliseconds. */
const BACK_LIMIT_MS = 5_000;

export const amnesia: StepDrill = {
  name: 'amnesia',
  needs: ['masters', 'links', 'master processes'],
  // A lease that outlasts the drill: a sale that enters, enters because a vote is gone.
  timing: { leaseMs: 30_000 },
  async run(testBed): Promise<Judgement> {
    const { first, second, masterCount } = testBed;
    const quorum = Math.floor(masterCount / 2) + 1;
    const others = Array.from({ length: masterCount - quorum }, (_, index) => quorum + index);
    const lines = testBed.cutMasters(first, others);
    const cut = testBed.mark(`${others.length} lines cut`, { node: first });
    await testBed.step(`${first.name} does not reach ${others.length} of ${masterCount} masters.`);
    const holder = await testBed.sellInside(first, { untilResumed: true });
    const votes = await testBed.votesFor(first);
    if (votes !== quorum) return notStaged(`${votes} masters had voted for ${first.name} instead of ${quorum}.`);
    await testBed.step(`Sale ${holder.saleId} on ${first.name} holds the lock with ${votes} votes, a bare majority.`);

    await testBed.forgetMaster(quorum - 1);
    testBed.mark(`master ${quorum} restarts empty`);
    // Some locks keep the votes of a try that failed: they would be in their own way.
    const isBack = await testBed.waitFor(
      async () => (await testBed.reachesMaster(second, quorum - 1)) || undefined,
      BACK_LIMIT_MS,
    );
    if (!isBack) return notStaged(`${second.name} did not reach master ${quorum} after its restart.`);
    await testBed.say(`Master ${quorum} is killed and started again. It has forgotten its vote.`);

    const soldMeanwhile = await sellDuringHold(testBed, holder, SELLING_MS);
    lines.restore();
    cut.over();
    await first.resume();
    await holder.end;

    const outcome = await testBed.outcome();
    const meanwhile = `others sold ${soldMeanwhile} units while sale ${holder.saleId} was inside.`;
    return judgeDuringHold(outcome, soldMeanwhile, `The master that had forgotten voted a second time: ${meanwhile}`);
  },
};
