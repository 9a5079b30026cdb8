// A tick of a node comes before its last one has ended. Are the orders that both have read restored twice?

import { describeTick, type GuardDrill, LONG_LEASE_MS } from '../clean-up.ts';

const DUE = 100;

export const sameNodeTwice: GuardDrill = {
  name: 'same-node-twice',
  leaseMs: LONG_LEASE_MS,
  async run(testBed) {
    const { first } = testBed;
    await testBed.makeDue(DUE);
    await testBed.step(`${DUE} orders are due. ${first.name} ticks, and ticks again before it has restored anything.`);
    const slow = await testBed.holdTick(first, { after: 'read', orders: 1 });
    await testBed.say(`The first tick has read that ${DUE} orders are due.`);
    const next = await testBed.startTick(first, { after: 'read', orders: 1 });
    await testBed.nothingRestored();
    await testBed.say(next.ended() ? 'The second tick is skipped.' : 'The second tick has read the same orders.');

    await first.resume();
    const [one, two] = [await slow.result, await next.result];
    testBed.mustHaveRun(first, one);
    testBed.mustNotFail(first, two);
    await testBed.say(`The first tick ${describeTick(one)}; the second ${describeTick(two)}.`);
    return testBed.judge(`two ticks of ${first.name} had both read the same orders`);
  },
};
