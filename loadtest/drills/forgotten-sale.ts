// A sale is answered when the line to the replica is cut already. Then Redis dies, and the replica takes its place. Does the stock
// still know of the sale?

import { judgeAnswers } from '../harness/judge-answers.ts';
import { type Judgement, notStaged, type StepDrill } from '../harness/step-drill.ts';
import { NOT_REPLICATED } from '../harness/watched-sales.ts';

export const forgottenSale: StepDrill = {
  name: 'forgotten-sale',
  needs: ['links', 'redis process', 'replication'],
  async run(testBed): Promise<Judgement> {
    const { first, second, leaseMs } = testBed;
    const replica = await testBed.startReplica();
    await testBed.step('A replica copies all that Redis holds.');
    const sale = await testBed.sellInside(first, { untilResumed: true });
    await testBed.step(`Sale ${sale.saleId} on ${first.name} ${testBed.soFar}.`);

    await replica.cutLine();
    testBed.mark('replication cut');
    await testBed.say('The line between Redis and the replica is cut. Now the sale goes on.');
    await testBed.mustBeInside(sale);
    await first.resume();
    const end = await sale.end;
    const answer = end.outcome === 'sold' ? 'sold' : 'code' in end ? end.code : end.outcome;
    if (answer !== 'sold' && answer !== NOT_REPLICATED) return notStaged(`The sale was answered ${answer}.`);
    await testBed.step(`Sale ${sale.saleId} is answered: ${answer}.`);

    await testBed.killRedis();
    testBed.mark('Redis killed');
    await replica.promote();
    testBed.mark('replica promoted');
    await testBed.say('Redis is killed, the replica takes its place, and both nodes are led there.');

    // The replica may know the lock of the first sale, and keeps it until its lease ends.
    const next = await testBed.sellWithin(second, 2.5 * leaseMs);
    if (next.outcome === 'sold') {
      const { stockBefore, remaining } = next.sale;
      await testBed.say(`${second.name} sells one: it found ${stockBefore}, and leaves ${remaining}.`);
    }
    return judgeAnswers(await testBed.outcome(), answer);
  },
};
