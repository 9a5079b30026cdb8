// Two ticks have read the same orders. Are these restored twice?

import { describeTick, type GuardDrill, LONG_LEASE_MS } from '../clean-up.ts';

const DUE = 100;

/** A tick of a node comes before its last one has ended. */
export const sameNodeTwice = tickTwice('same-node-twice', 'first');
/** Both nodes tick at the same moment, each by its own schedule. */
export const doubleRestore = tickTwice('double-restore', 'second');

function tickTwice(name: string, which: 'first' | 'second'): GuardDrill {
  return {
    name,
    leaseMs: LONG_LEASE_MS,
    async run(testBed) {
      const { first, [which]: other } = testBed;
      const again =
        other === first ? 'ticks again before it has restored anything' : `${other.name} does at the same moment`;
      await testBed.makeDue(DUE);
      await testBed.step(`${DUE} orders are due. ${first.name} ticks, and ${again}.`);
      const one = await testBed.holdTick(first, { after: 'read', orders: 1 });
      await testBed.say(`The first tick has read that ${DUE} orders are due.`);
      const two = await testBed.startTick(other, { after: 'read', orders: 1 });
      await testBed.nothingRestored();
      await testBed.say(`The second tick ${two.ended() ? 'is skipped' : 'has read the same orders'}.`);

      await first.resume();
      await testBed.say(`The first tick ${describeTick(await one.result)}.`);
      await other.resume();
      await testBed.say(`The second tick ${describeTick(await two.result)}.`);
      testBed.mustHaveRun(first, await one.result);
      testBed.mustNotFail(other, await two.result);
      return testBed.judge(`a tick of ${first.name} and another one of ${other.name} had both read the same orders`);
    },
  };
}
