// Both nodes come to the same order at the same moment: each has looked at it before the other one has written.

import { countOf } from '../../evidence/numbers.ts';
import { describeTick, type GuardDrill, LONG_LEASE_MS } from '../clean-up.ts';

export const crossedTicks: GuardDrill = {
  name: 'crossed-ticks',
  leaseMs: LONG_LEASE_MS,
  async run(testBed) {
    const { first, second, until } = testBed;
    await testBed.makeDue(1);
    await testBed.step(`One order is due. ${first.name} and ${second.name} come to it at the same moment.`);
    const one = await testBed.holdTick(first, { after: 'read', orders: 1 });
    const two = await testBed.startTick(second, { after: 'read', orders: 1 });
    await testBed.nothingRestored();

    const ended = () => [one, two].filter((tick) => tick.ended() !== undefined).length;
    /** How many ticks wait for the row of the order. */
    const waiting = () => testBed.waitingStatements('%tb_order%');
    await testBed.holding('SELECT id FROM tb_order', [], async () => {
      for (const { node } of [one, two]) await node.resume();
      await until('The ticks have not come to the order.', async () => (await waiting()) + ended() === 2);
      await testBed.say(`${countOf(await waiting(), 'tick waits', 'ticks wait')} for the row of the order.`);
    });
    for (const { node, result } of [one, two]) await testBed.say(`${node.name} ${describeTick(await result)}.`);
    testBed.mustHaveRun(first, await one.result);
    testBed.mustNotFail(second, await two.result);
    return testBed.judge(`${first.name} and ${second.name} had both found it unpaid before either closed it`);
  },
};
