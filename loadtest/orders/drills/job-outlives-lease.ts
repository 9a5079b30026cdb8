// A tick takes longer than the lease of its lock. Is somebody else let in, and restores what it has not come to?

import { formatDuration } from '../../evidence/numbers.ts';
import { notStaged } from '../../harness/play.ts';
import { describeTick, type GuardDrill } from '../clean-up.ts';

const DUE = 100;
const CLOSED = 40;

export const jobOutlivesLease: GuardDrill = {
  name: 'job-outlives-lease',
  async run(testBed) {
    const { first, second, leaseMs } = testBed;
    await testBed.makeDue(DUE);
    await testBed.step(`${DUE} orders are due. ${first.name} ticks, and is slow.`);
    const slow = await testBed.holdTick(first, { after: 'closed', orders: CLOSED });
    if ((await testBed.closed()) !== CLOSED) return notStaged(`${first.name} has not closed ${CLOSED} orders.`);
    await testBed.say(
      `${first.name} has closed ${CLOSED} of them, and is still at it after two leases of ${formatDuration(leaseMs)}.`,
    );
    // Nothing happens that could be awaited: a lock that is not renewed ends.
    await testBed.rest(2 * leaseMs);
    const next = await testBed.tick(second);
    await testBed.say(`${second.name} ticks: it ${describeTick(next)}.`);
    testBed.mustNotFail(second, next);
    if (slow.ended()) return notStaged(`${first.name} had ended before its lease.`);

    await first.resume();
    const result = await slow.result;
    await testBed.say(`${first.name} goes on: it ${describeTick(result)}.`);
    testBed.mustNotFail(first, result);
    return testBed.judge(`${first.name} went on when ${second.name} had restored the rest`);
  },
};
