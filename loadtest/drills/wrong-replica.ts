// Of two replicas one has confirmed a sale, and the other one is promoted. Does the stock still know of the sale?

import { judgeAnswers } from '../harness/judge-answers.ts';
import { type Judgement, notStaged, type StepDrill } from '../harness/step-drill.ts';
import { NOT_REPLICATED } from '../harness/watched-sales.ts';

export const wrongReplica: StepDrill = {
  name: 'wrong-replica',
  needs: ['links', 'redis process', 'replication'],
  async run(testBed): Promise<Judgement> {
    const { first } = testBed;
    const confirming = await testBed.startReplica();
    const other = await testBed.startReplica();
    await testBed.step('Two replicas copy all that Redis holds.');
    const sale = await testBed.sellInside(first, { untilResumed: true });
    await testBed.step(`Sale ${sale.saleId} on ${first.name} ${testBed.soFar}.`);

    await other.cutLine();
    testBed.mark('one replica cut off');
    await testBed.say('The line to one of the replicas is cut. Now the sale goes on.');
    await testBed.mustBeInside(sale);
    await first.resume();
    const end = await sale.end;
    const answer = end.outcome === 'sold' ? 'sold' : 'code' in end ? end.code : end.outcome;
    // The replica that is not cut off may have been too slow to confirm.
    if (answer !== 'sold') return notStaged(`The sale was answered ${answer}.`, { isLate: answer === NOT_REPLICATED });
    await confirming.hearsAll();
    await testBed.step(
      `Sale ${sale.saleId} is answered: sold. One replica hears all that Redis is told, the other does not.`,
    );

    await testBed.killRedis();
    testBed.mark('Redis killed');
    await other.promote();
    testBed.mark('the other replica promoted');
    await testBed.say('Redis is killed, the other replica takes its place, and both nodes are led there.');
    return judgeAnswers(await testBed.outcome(), answer);
  },
};
