// Redis fails over to a replica that has not heard of the lock. Who else gets in?

import { spansOf } from '../evidence/history.ts';
import { judgeDuringHold, sellDuringHold } from '../harness/sell-during-hold.ts';
import { sellMeanwhile } from '../harness/sell-meanwhile.ts';
import { type Judgement, notStaged, type StepDrill } from '../harness/step-drill.ts';

/** How long the others try to sell, in milliseconds. */
const SELLING_MS = 5_000;
/** How long they try when the first sale was refused, in milliseconds. */
const REFUSED_MS = 1_000;
/** How long the first sale may take to be inside, in milliseconds. */
const ENTRY_LIMIT_MS = 5_000;
const REFUSED = 'Nobody enters on a lock that no replica has confirmed, and no sale was lost.';

export const failover: StepDrill = {
  name: 'failover',
  needs: ['node processes', 'links', 'redis process', 'replication'],
  // A lease that outlasts the drill: a sale that enters, enters because the lock is gone.
  timing: { leaseMs: 30_000 },
  async run(testBed): Promise<Judgement> {
    const { first, second, leaseMs } = testBed;
    const replica = await testBed.startReplica();
    await testBed.step('A replica copies all that Redis holds. Then the line between the two is cut.');
    await replica.cutLine();
    testBed.mark('replication cut');
    const holder = await testBed.trySellInside(first, { untilResumed: true }, ENTRY_LIMIT_MS);
    if (holder === undefined) await testBed.mustBeUnconfirmed(first);
    await testBed.say(
      holder
        ? `Sale ${holder.saleId} on ${first.name} ${testBed.soFar}; the replica does not hear of it.`
        : `The sale on ${first.name} is refused: no replica has confirmed its lock.`,
    );

    await testBed.killRedis();
    testBed.mark('Redis killed');
    await replica.promote();
    testBed.mark('replica promoted');
    await testBed.say('Redis is killed, the replica takes its place, and both nodes are led there.');

    if (holder === undefined) {
      const soldAfterwards = await sellMeanwhile(testBed, { saleMs: 0, limitMs: REFUSED_MS });
      await testBed.say(`${second.name} has sold ${soldAfterwards} units.`);
      const failure = 'Somebody entered on a lock that the replica did not know.';
      const judgement = judgeDuringHold(await testBed.outcome(), soldAfterwards, failure);
      if (judgement.verdict === 'fail') return judgement;
      return { ...judgement, reason: `${REFUSED} The price is that nobody sells without a replica.` };
    }
    const soldMeanwhile = await sellDuringHold(testBed, holder, SELLING_MS);
    await first.resume();
    const end = await holder.end;

    const outcome = await testBed.outcome();
    const hold = spansOf(outcome.events).find(({ node, saleId }) => node === first.name && saleId === holder.saleId);
    if (hold === undefined || hold.left - hold.entered >= leaseMs) {
      return notStaged(`Sale ${holder.saleId} stayed longer than its lease, which proves nothing about the failover.`);
    }
    if (soldMeanwhile === 0 && end.outcome !== 'sold') return notStaged('After the failover nobody could sell at all.');
    const meanwhile = `others sold ${soldMeanwhile} units while it was inside.`;
    return judgeDuringHold(outcome, soldMeanwhile, `The replica knew nothing of sale ${holder.saleId}: ${meanwhile}`);
  },
};
