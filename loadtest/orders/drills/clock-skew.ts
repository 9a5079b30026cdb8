// The schedule of one node is a little late, so that its tick falls into the tick of the other, or right behind it.

import { notStaged } from '../../harness/play.ts';
import { describeTick, type GuardDrill, LONG_LEASE_MS } from '../clean-up.ts';

/** Two more are due later: all in all there are 100. */
const DUE = 98;
const CLOSED = 40;
/** Longer than the late tick is late. */
const HOLD_MS = 500;

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

    // Now the tick on time is quick: the late one comes when all is done.
    const lateRuns = await quickThenLate(0);
    const lateRunsWithHold = await quickThenLate(HOLD_MS);
    const isSpared = lateRuns === 1 && lateRunsWithHold === 0;
    return testBed.judge(
      `${second.name} had read what ${first.name} had not yet come to`,
      { ...(lateRuns !== undefined && { lateRuns }), ...(lateRunsWithHold !== undefined && { lateRunsWithHold }) },
      isSpared ? 'A late tick that finds all done still runs; a minimum hold keeps it out.' : '',
    );

    /**
     * How many ticks of the late node run, 0 or 1, when that of the other has done its work and may hold its lock for a while.
     * Undefined when the late one comes too late for that, or fails: the fault is judged all the same.
     */
    async function quickThenLate(minHoldMs: number): Promise<number | undefined> {
      await testBed.setMinHold(minHoldMs);
      await testBed.makeDue(1);
      const before = await testBed.closed();
      const startedAt = performance.now();
      const quick = testBed.tick(first);
      quick.catch(() => {});
      await testBed.until(`${first.name} has closed nothing.`, async () => (await testBed.closed()) > before);
      if (minHoldMs === 0) await quick;
      const { outcome } = await testBed.tick(second);
      const isInTime = minHoldMs === 0 || performance.now() - startedAt < minHoldMs;
      await quick;
      if (!isInTime || outcome === 'failed') return undefined;
      await testBed.say(
        `With a minimum hold of ${minHoldMs} ms the late tick ${outcome === 'ran' ? 'runs again' : 'is skipped'}.`,
      );
      return outcome === 'ran' ? 1 : 0;
    }
  },
};
