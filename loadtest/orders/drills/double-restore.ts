// Both nodes tick at the same moment, each by its own schedule. Are the orders that both have read restored twice?

import { describeTick, type GuardDrill, LONG_LEASE_MS } from '../clean-up.ts';

const DUE = 100;

export const doubleRestore: GuardDrill = {
  name: 'double-restore',
  leaseMs: LONG_LEASE_MS,
  async run(testBed) {
    const { first, second } = testBed;
    await testBed.makeDue(DUE);
    await testBed.step(`${DUE} orders are due. ${first.name} and ${second.name} tick at the same moment.`);
    const one = await testBed.holdTick(first, { after: 'read', orders: 1 });
    await testBed.say(`${first.name} has read that ${DUE} orders are due.`);
    const two = await testBed.startTick(second, { after: 'read', orders: 1 });
    await testBed.nothingRestored();
    await testBed.say(two.ended() ? `${second.name} is skipped.` : `${second.name} has read the same orders.`);

    for (const { node, result } of [one, two]) {
      await node.resume();
      await testBed.say(`${node.name} ${describeTick(await result)}.`);
    }
    testBed.mustHaveRun(first, await one.result);
    testBed.mustNotFail(second, await two.result);
    return testBed.judge(`${first.name} and ${second.name} had both read the same orders`);
  },
};
