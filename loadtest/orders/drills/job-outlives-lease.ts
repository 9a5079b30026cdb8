// A tick takes longer than the lease of its lock. Is somebody else let in, and restores what it has not come to?

import { formatDuration } from '../../evidence/numbers.ts';
import { notStaged } from '../../harness/step-drill.ts';
import { type GuardDrill, tellTick } from '../clean-up.ts';

const DUE = 100;
const CLOSED = 40;

export const jobOutlivesLease: GuardDrill = {
  name: 'job-outlives-lease',
  async run(scene) {
    const { first, second, leaseMs } = scene;
    await scene.makeDue(DUE);
    await scene.step(`${DUE} orders are due. ${first.name} ticks, and is slow.`);
    const slow = await scene.holdTick(first, { after: 'closed', orders: CLOSED });
    if ((await scene.closed()) !== CLOSED) return notStaged(`${first.name} has not closed ${CLOSED} orders.`);
    await scene.say(
      `${first.name} has closed ${CLOSED} of them, and is still at it after two leases of ${formatDuration(leaseMs)}.`,
    );
    // Nothing happens that could be awaited: a lock that is not renewed ends.
    await scene.rest(2 * leaseMs);
    const next = await scene.tick(second);
    await scene.say(`${second.name} ticks: it ${tellTick(next)}.`);
    scene.mustNotFail(second, next);
    if (slow.ended()) return notStaged(`${first.name} had ended before its lease.`);

    await first.goOn();
    const result = await slow.result;
    await scene.say(`${first.name} goes on: it ${tellTick(result)}.`);
    scene.mustNotFail(first, result);
    return scene.judge(`${first.name} went on when ${second.name} had restored the rest`);
  },
};
