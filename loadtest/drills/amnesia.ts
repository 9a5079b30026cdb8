// A holder has a bare majority of the votes, and one of those masters restarts empty. Does a second majority let another in?

import { judgeBeside, sellBeside } from '../harness/sell-during-hold.ts';
import { type Judgement, notStaged, type StepDrill } from '../harness/step-drill.ts';

/** How long the others try to sell, in milliseconds. */
const SELLING_MS = 2_000;

export const amnesia: StepDrill = {
  name: 'amnesia',
  needs: ['masters', 'links', 'master processes'],
  // A lease that outlasts the drill: whoever enters, enters because a vote is gone.
  timing: { leaseMs: 30_000 },
  async run(scene): Promise<Judgement> {
    const { first, masterCount } = scene;
    const quorum = Math.floor(masterCount / 2) + 1;
    const others = Array.from({ length: masterCount - quorum }, (_, index) => quorum + index);
    const lines = scene.cutMasters(first, others);
    const cut = scene.mark(`${others.length} lines cut`, { node: first });
    await scene.step(`${first.name} does not reach ${others.length} of ${masterCount} masters.`);
    const holder = await scene.sellInside(first, { untilTold: true });
    const votes = await scene.votesFor(first);
    if (votes !== quorum) return notStaged(`${votes} masters had voted for ${first.name} instead of ${quorum}.`);
    await scene.step(`Sale ${holder.saleId} on ${first.name} holds the lock with ${votes} votes, a bare majority.`);

    await scene.forgetMaster(quorum - 1);
    scene.mark(`master ${quorum} restarts empty`);
    await scene.say(`Master ${quorum} is killed and started again. It has forgotten its vote.`);

    const soldMeanwhile = await sellBeside(scene, holder, SELLING_MS);
    lines.restore();
    cut.over();
    await first.goOn();
    await holder.end;

    const outcome = await scene.outcome();
    const beside = `others sold ${soldMeanwhile} units while sale ${holder.saleId} was inside.`;
    return judgeBeside(outcome, soldMeanwhile, `The master that had forgotten voted a second time: ${beside}`);
  },
};
