// A holder's stock write is held up on its way, and arrives when its lease is over and others have sold. Does it undo their
// sales?

import { isStockWrite } from '../harness/faults.ts';
import { judgeMeanwhile, sellMeanwhile } from '../harness/sell-during-fault.ts';
import { type Judgement, notStaged, type StepDrill } from '../harness/step-drill.ts';

export const lateWrite: StepDrill = {
  name: 'late-write',
  needs: ['links'],
  async run(scene): Promise<Judgement> {
    const { first, second } = scene;
    const late = await scene.sellInside(first, { untilTold: true });
    await scene.say(`Sale ${late.saleId} on ${first.name} ${scene.soFar}. Now it writes.`);
    const write = await scene.holdOnItsWay(first, isStockWrite, first.goOn);
    const held = scene.mark('write held', { sale: late });
    await scene.step('Its write is held up on the line to Redis.');

    await scene.say(`${second.name} sells what it can, for 2.5 leases.`);
    const meanwhile = await sellMeanwhile(scene);
    await scene.step(`${second.name} has sold ${meanwhile.soldMeanwhile} units meanwhile.`);
    held.over();
    const stockBefore = await second.stock();
    await write.arrive();
    scene.mark('write arrives', { sale: late });
    const isWritten = (await second.stock()) !== stockBefore;
    await scene.say(isWritten ? 'The write arrives, and changes the stock.' : 'The write arrives, and is refused.');
    scene.restore(first);

    const outcome = await scene.outcome();
    const firstRead = outcome.events.find(({ type, node }) => type === 'read' && node === second.name)?.stock;
    if (firstRead !== undefined && firstRead !== outcome.initialStock) return notStaged('The write was not held up.');
    // It would write what is there already.
    if (meanwhile.soldMeanwhile === 1) return notStaged('Only one unit was sold meanwhile.');
    return judgeMeanwhile(outcome, meanwhile, isWritten ? [late] : []);
  },
};
