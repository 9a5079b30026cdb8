// A node is killed between restoring an order and closing it. What does the next tick make of it?

import { notStaged } from '../../harness/step-drill.ts';
import { type GuardDrill, tellTick } from '../clean-up.ts';

const DUE = 100;
const RESTORED = 50;
/** How many leases the next tick may be kept out. */
const PATIENCE = 5;

export const jobCrashesHalfWay: GuardDrill = {
  name: 'job-crashes-half-way',
  needs: ['node processes'],
  async run(scene) {
    const { first, second, leaseMs } = scene;
    await scene.makeDue(DUE);
    await scene.step(`${DUE} orders are due. ${first.name} ticks, and is killed in the middle of it.`);
    const doomed = await scene.holdTick(first, { after: 'restored', orders: RESTORED });
    if ((await scene.unitsRestored()) !== RESTORED)
      return notStaged(`${first.name} has not restored ${RESTORED} units.`);
    await scene.kill(first);
    const hasAnswered = await doomed.result.then(
      () => true,
      () => false,
    );
    if (hasAnswered) return notStaged(`${first.name} had ended before it was killed.`);
    await scene.say(
      `${first.name} has restored the unit of order ${RESTORED} and not yet written that down: it is killed (SIGKILL).`,
    );

    const next = await scene.tickWhenFree(second, PATIENCE * leaseMs);
    await scene.say(`${second.name} ticks: it ${tellTick(next)}.`);
    scene.mustNotFail(second, next);
    return scene.judge(
      next.outcome === 'skipped'
        ? `the lock of the dead node is still there, and every tick is skipped`
        : `${first.name} died when the unit was back and the order still open, so ${second.name} restored it again`,
    );
  },
};
