// Redis fails over to a replica that has not heard of the lock. Who else gets in?

import { spansOf } from '../checker.ts';
import { type Judgement, notStaged, overlapsOf, readStock, type StepDrill } from '../step-drill.ts';

const OTHER_SALES = 3;
/** How long each of them takes, and how long it may take to be answered, in milliseconds. */
const SALE_MS = 100;
const SALE_LIMIT_MS = 5_000;

export const failover: StepDrill = {
  name: 'failover',
  needs: ['node processes', 'links', 'redis process', 'replication'],
  // A lease that outlasts the drill: whoever enters, enters because the lock is gone.
  timing: { leaseMs: 30_000 },
  async run(scene): Promise<Judgement> {
    const { first, second, leaseMs } = scene;
    const replica = await scene.startReplica();
    await scene.step('A replica copies all that Redis holds. Then the line between the two is cut.');
    replica.cutLine();
    scene.mark('replication cut');
    const holder = await scene.sellInside(first, { untilTold: true });
    await scene.say(`Sale ${holder.saleId} on ${first.name} ${scene.soFar}; the replica does not hear of it.`);

    await scene.killRedis();
    scene.mark('Redis killed');
    await replica.promote();
    scene.mark('replica promoted');
    await scene.say('Redis is killed, the replica takes its place, and both nodes are led there.');

    await second.script({ pauseMs: SALE_MS, times: OTHER_SALES });
    const deadline = performance.now() + SALE_LIMIT_MS;
    let soldMeanwhile = 0;
    while (soldMeanwhile < OTHER_SALES && performance.now() < deadline) {
      if ((await scene.sellWithin(second, SALE_LIMIT_MS)).outcome === 'sold') soldMeanwhile += 1;
    }
    await scene.say(`${second.name} has sold ${soldMeanwhile} units meanwhile.`);
    await scene.mustBeInside(holder);
    await first.goOn();
    const end = await holder.end;

    const outcome = await scene.outcome();
    const stay = spansOf(outcome.events).find(({ node, saleId }) => node === first.name && saleId === holder.saleId);
    if (stay === undefined || stay.left - stay.entered >= leaseMs) {
      return notStaged(`Sale ${holder.saleId} stayed longer than its lease, which proves nothing about the failover.`);
    }
    const { overlaps, witnesses } = overlapsOf(outcome);
    const { lostUpdates, finalStock, expectedStock, ...stock } = readStock(outcome);
    const figures = { overlaps, lostUpdates, soldMeanwhile, finalStock, expectedStock };
    if (overlaps > 0 || lostUpdates > 0) {
      const inStock = lostUpdates > 0 ? ` The stock is ${finalStock} instead of ${expectedStock} at most.` : '';
      const reason = `The replica knew nothing of sale ${holder.saleId}: others sold ${soldMeanwhile} units while it was inside.${inStock}`;
      return { verdict: 'fail', reason, figures, witnesses: [...stock.witnesses, ...witnesses] };
    }
    if (soldMeanwhile === 0 && end.outcome !== 'sold') return notStaged('After the failover nobody could sell at all.');
    return { verdict: 'pass', reason: 'Nobody else was inside, and no sale was lost.', figures, witnesses: [] };
  },
};
