// The schedule of one node is a little late, so that its tick falls into the tick of the other.

import { notStaged } from '../../harness/play.ts';
import { describeTick, type GuardDrill, LONG_LEASE_MS } from '../clean-up.ts';

const DUE = 100;
const CLOSED = 40;
export const clockSkew: GuardDrill = {
  name: 'clock-skew',
  leaseMs: LONG_LEASE_MS,
  async run(testBed) {
    const { first, second } = testBed;
    await testBed.makeDue(DUE);
    await testBed.step(
      `${DUE} orders are due. The schedule of ${second.name} is late: it ticks when ${first.name} is at work.`,
    );
    const onTime = await testBed.holdTick(first, { after: 'closed', orders: CLOSED });
    if ((await testBed.closed()) !== CLOSED) return notStaged(`${first.name} has not closed ${CLOSED} orders.`);
    await testBed.say(`${first.name} has closed ${CLOSED} of them.`);
    const late = await testBed.tick(second);
    await testBed.say(`${second.name} ${describeTick(late)}.`);
    testBed.mustNotFail(second, late);
    if (onTime.ended()) return notStaged(`${first.name} had ended before the late tick.`);
    await first.resume();
    const result = await onTime.result;
    testBed.mustHaveRun(first, result);
    await testBed.say(`${first.name} ${describeTick(result)}.`);

    return testBed.judge(`${second.name} had read what ${first.name} had not yet come to`);
  },
};
