// A node is cut off from the servers of its lock while one of its sales is inside; its clients still reach it. When the line is
// back, does its write undo the sales made meanwhile?

import type { Backend } from '../../locks/index.ts';
import { judgeDuringFault, sellDuringFault } from '../harness/sell-during-fault.ts';
import { type Judgement, notStaged, type StepDrill } from '../harness/step-drill.ts';
import { backendOfRow } from '../staircase/lookup.ts';

/** How long the node may take to reach Redis again, in milliseconds. */
const BACK_LIMIT_MS = 5_000;
const serversOf: Record<Backend, string> = {
  redis: 'Redis',
  masters: 'the masters',
  mysql: 'MySQL',
  zookeeper: 'ZooKeeper',
};

export const partition: StepDrill = {
  name: 'partition',
  needs: ['links'],
  async run(testBed): Promise<Judgement> {
    const { first, second, stage } = testBed;
    const servers = serversOf[backendOfRow(stage)];
    const holder = await testBed.sellInside(first, { untilResumed: true });
    // What it had to ask before is answered.
    await testBed.hasAsked(first);
    const line = testBed.cutOff(first);
    const cut = testBed.mark(`cut off from ${servers}`, { node: first });
    await testBed.step(
      `Sale ${holder.saleId} on ${first.name} ${testBed.soFar}. Now no packet passes between ${first.name} and ${servers}.`,
    );

    await testBed.say(`${second.name} sells what it can, for 2.5 leases.`);
    const meanwhile = await sellDuringFault(testBed);
    await testBed.mustBeInside(holder);
    await testBed.step(`${second.name} has sold ${meanwhile.soldMeanwhile} units meanwhile.`);
    line.restore();
    cut.over();
    // The stock may be there, too: the write must not fail because the line has just come back.
    const isBack = await testBed.waitFor(() => first.redis().catch(() => undefined), BACK_LIMIT_MS);
    if (!isBack) return notStaged(`${first.name} did not reach Redis again.`);
    await testBed.mustBeInside(holder);
    await testBed.say(`The line is back, and sale ${holder.saleId} on ${first.name} goes on.`);
    await first.resume();
    await holder.end;
    return judgeDuringFault(await testBed.outcome(), meanwhile);
  },
};
