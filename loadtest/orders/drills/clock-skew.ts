// The schedule of one node is a little late, so that its tick falls into the tick of the other, or right behind it.

import { notStaged } from '../../harness/step-drill.ts';
import { type GuardDrill, LONG_LEASE_MS, tellTick } from '../clean-up.ts';

/** Two more are due later: all in all there are 100. */
const DUE = 98;
const CLOSED = 40;
/** Longer than the late tick is late. */
const HOLD_MS = 500;

export const clockSkew: GuardDrill = {
  name: 'clock-skew',
  leaseMs: LONG_LEASE_MS,
  async run(scene) {
    const { first, second } = scene;
    await scene.makeDue(DUE);
    await scene.step(
      `${DUE} orders are due. The schedule of ${second.name} is late: it ticks when ${first.name} is at work.`,
    );
    const onTime = await scene.holdTick(first, { after: 'closed', orders: CLOSED });
    if ((await scene.closed()) !== CLOSED) return notStaged(`${first.name} has not closed ${CLOSED} orders.`);
    await scene.say(`${first.name} has closed ${CLOSED} of them.`);
    const late = await scene.tick(second);
    await scene.say(`${second.name} ${tellTick(late)}.`);
    scene.mustNotFail(second, late);
    if (onTime.ended()) return notStaged(`${first.name} had ended before the late tick.`);
    await first.goOn();
    const result = await onTime.result;
    scene.mustHaveRun(first, result);
    await scene.say(`${first.name} ${tellTick(result)}.`);

    // Now the tick on time is quick: the late one comes when all is done.
    const lateRuns = await quickThenLate(0);
    const lateRunsWithHold = await quickThenLate(HOLD_MS);
    const isSpared = lateRuns === 1 && lateRunsWithHold === 0;
    return scene.judge(
      `${second.name} had read what ${first.name} had not yet come to`,
      { ...(lateRuns !== undefined && { lateRuns }), ...(lateRunsWithHold !== undefined && { lateRunsWithHold }) },
      isSpared ? 'A late tick that finds all done still runs; a minimum hold keeps it out.' : '',
    );

    /**
     * How many ticks of the late node run, 0 or 1, when that of the other has done its work and may hold its lock for a while.
     * Undefined when the late one comes too late for that, or fails: the fault is judged all the same.
     */
    async function quickThenLate(minHoldMs: number): Promise<number | undefined> {
      await scene.setMinHold(minHoldMs);
      await scene.makeDue(1);
      const before = await scene.closed();
      const startedAt = performance.now();
      const quick = scene.tick(first);
      quick.catch(() => {});
      await scene.until(`${first.name} has closed nothing.`, async () => (await scene.closed()) > before);
      if (minHoldMs === 0) await quick;
      const { outcome } = await scene.tick(second);
      const isInTime = minHoldMs === 0 || performance.now() - startedAt < minHoldMs;
      await quick;
      if (!isInTime || outcome === 'failed') return undefined;
      await scene.say(
        `With a minimum hold of ${minHoldMs} ms the late tick ${outcome === 'ran' ? 'runs again' : 'is skipped'}.`,
      );
      return outcome === 'ran' ? 1 : 0;
    }
  },
};
