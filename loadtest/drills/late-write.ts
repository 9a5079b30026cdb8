// A holder's stock write is held up on its way, and arrives when its lease is over and others have sold. Does it undo their
// sales?

import { isStockWrite } from '../harness/faults.ts';
import { judgeDuringFault, sellDuringFault } from '../harness/sell-during-fault.ts';
import { type Judgement, notStaged, type StepDrill } from '../harness/step-drill.ts';

export const lateWrite: StepDrill = {
  name: 'late-write',
  needs: ['links'],
  async run(testBed): Promise<Judgement> {
    const { first, second } = testBed;
    const late = await testBed.sellInside(first, { untilResumed: true });
    await testBed.say(`Sale ${late.saleId} on ${first.name} ${testBed.soFar}. Now it writes.`);
    const write = await testBed.holdOnItsWay(first, isStockWrite, first.resume);
    const held = testBed.mark('write held', { sale: late });
    await testBed.step('Its write is held up on the line to Redis.');

    await testBed.say(`${second.name} sells what it can, for 2.5 leases.`);
    const meanwhile = await sellDuringFault(testBed);
    await testBed.step(`${second.name} has sold ${meanwhile.soldMeanwhile} units meanwhile.`);
    held.over();
    const stockBefore = await second.stock();
    await write.arrive();
    testBed.mark('write arrives', { sale: late });
    const isWritten = (await second.stock()) !== stockBefore;
    await testBed.say(isWritten ? 'The write arrives, and changes the stock.' : 'The write arrives, and is refused.');
    testBed.restore(first);

    const outcome = await testBed.outcome();
    const firstRead = outcome.events.find(({ type, node }) => type === 'read' && node === second.name)?.stock;
    if (firstRead !== undefined && firstRead !== outcome.initialStock) return notStaged('The write was not held up.');
    // It would write what is there already.
    if (meanwhile.soldMeanwhile === 1) return notStaged('Only one unit was sold meanwhile.');
    return judgeDuringFault(outcome, meanwhile, isWritten ? [late] : []);
  },
};
