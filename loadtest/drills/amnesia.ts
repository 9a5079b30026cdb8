// A holder has a bare majority of the votes, and one of those masters restarts empty. Does a second majority let another in?

import { type Judgement, notStaged, overlapsOf, readStock, type StepDrill } from '../step-drill.ts';

const OTHER_SALES = 3;
/** How long each of them takes, and how long it may take to be answered, in milliseconds. */
const SALE_MS = 100;
const SALE_LIMIT_MS = 2_000;

export const amnesia: StepDrill = {
  name: 'amnesia',
  needs: ['masters', 'links', 'master processes'],
  // A lease that outlasts the drill: whoever enters, enters because a vote is gone.
  timing: { leaseMs: 30_000 },
  async run(scene): Promise<Judgement> {
    const { first, second, masterCount } = scene;
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

    await second.script({ pauseMs: SALE_MS, times: OTHER_SALES });
    let soldMeanwhile = 0;
    for (let sale = 0; sale < OTHER_SALES; sale += 1) {
      const { outcome } = await scene.sellWithin(second, SALE_LIMIT_MS);
      if (outcome === 'sold') soldMeanwhile += 1;
      else break;
    }
    await scene.say(`${second.name} has sold ${soldMeanwhile} units meanwhile.`);
    await scene.mustBeInside(holder);
    if (soldMeanwhile === 0) await scene.mustHaveWaited(second, 0);
    lines.restore();
    cut.over();
    await first.goOn();
    await holder.end;

    const outcome = await scene.outcome();
    const { overlaps, witnesses } = overlapsOf(outcome);
    const { lostUpdates, finalStock, expectedStock, ...stock } = readStock(outcome);
    const figures = { overlaps, lostUpdates, soldMeanwhile, finalStock, expectedStock };
    if (overlaps > 0 || lostUpdates > 0) {
      const reason = `The master that had forgotten voted a second time: others sold ${soldMeanwhile} units while sale ${holder.saleId} was inside. The stock is ${finalStock} instead of ${expectedStock} at most.`;
      return { verdict: 'fail', reason, figures, witnesses: [...stock.witnesses, ...witnesses] };
    }
    return { verdict: 'pass', reason: 'Nobody else was inside, and no sale was lost.', figures, witnesses: [] };
  },
};
