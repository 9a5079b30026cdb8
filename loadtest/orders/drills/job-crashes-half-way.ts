// A node is killed between restoring an order and closing it. What does the next tick make of it?

import { notStaged } from '../../harness/play.ts';
import { describeTick, type GuardDrill } from '../clean-up.ts';

const DUE = 100;
const RESTORED = 50;
/** How many leases the next tick may be kept out. */
const PATIENCE = 5;

export const jobCrashesHalfWay: GuardDrill = {
  name: 'job-crashes-half-way',
  needs: ['node processes'],
  async run(testBed) {
    const { first, second, leaseMs } = testBed;
    await testBed.makeDue(DUE);
    await testBed.step(`${DUE} orders are due. ${first.name} ticks, and is killed in the middle of it.`);
    const doomed = await testBed.holdTick(first, { after: 'restored', orders: RESTORED });
    if ((await testBed.unitsRestored()) !== RESTORED)
      return notStaged(`${first.name} has not restored ${RESTORED} units.`);
    await testBed.kill(first);
    const hasAnswered = await doomed.result.then(
      () => true,
      () => false,
    );
    if (hasAnswered) return notStaged(`${first.name} had ended before it was killed.`);
    await testBed.say(
      `${first.name} has restored the unit of order ${RESTORED}, and is killed before its next step (SIGKILL).`,
    );

    const next = await testBed.tickWhenFree(second, PATIENCE * leaseMs);
    await testBed.say(`${second.name} ticks: it ${describeTick(next)}.`);
    testBed.mustNotFail(second, next);
    const isShort = (await testBed.unitsRestored()) < DUE;
    return testBed.judge(
      next.outcome === 'skipped'
        ? `the lock of the dead node is still there, and every tick is skipped`
        : isShort
          ? `${first.name} died when orders were closed and their units not back, and no tick looks at them again`
          : `${first.name} died when the unit was back and the order still open, so ${second.name} restored it again`,
    );
  },
};
