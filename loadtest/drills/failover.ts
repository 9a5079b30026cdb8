// Redis fails over to a replica that has not heard of the lock. Who else gets in?

import { spansOf } from '../evidence/checker.ts';
import { judgeBeside, sellBeside } from '../harness/sell-during-hold.ts';
import { type Judgement, notStaged, type StepDrill } from '../harness/step-drill.ts';

/** How long the others try to sell, in milliseconds. */
const SELLING_MS = 5_000;

export const failover: StepDrill = {
  name: 'failover',
  needs: ['node processes', 'links', 'redis process', 'replication'],
  // A lease that outlasts the drill: whoever enters, enters because the lock is gone.
  timing: { leaseMs: 30_000 },
  async run(scene): Promise<Judgement> {
    const { first, leaseMs } = scene;
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

    const soldMeanwhile = await sellBeside(scene, holder, SELLING_MS);
    await first.goOn();
    const end = await holder.end;

    const outcome = await scene.outcome();
    const stay = spansOf(outcome.events).find(({ node, saleId }) => node === first.name && saleId === holder.saleId);
    if (stay === undefined || stay.left - stay.entered >= leaseMs) {
      return notStaged(`Sale ${holder.saleId} stayed longer than its lease, which proves nothing about the failover.`);
    }
    if (soldMeanwhile === 0 && end.outcome !== 'sold') return notStaged('After the failover nobody could sell at all.');
    const beside = `others sold ${soldMeanwhile} units while it was inside.`;
    return judgeBeside(outcome, soldMeanwhile, `The replica knew nothing of sale ${holder.saleId}: ${beside}`);
  },
};
