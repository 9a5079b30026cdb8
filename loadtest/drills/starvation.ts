// One node has waiters without end, and on the other node one sale waits. Whenever the lock becomes free, the line of that sale is
// slow for a moment. Does anything bound how many that came later go first?

import { countOf, formatDuration } from '../evidence/numbers.ts';
import { sharedClock, sleep, startTimer, stopTimer } from '../harness/clock.ts';
import { type Judgement, notStaged, type StepDrill } from '../harness/step-drill.ts';
import { backendOfRow } from '../staircase/lookup.ts';

/** So many that come later and go first show that nothing bounds them. */
const OVERTAKES = 10;
/** How many wait on the first node at any time. */
const WAITERS = 4;
/** A lock that goes unused for so long is kept for the other node, in milliseconds: who waits here would have taken it long since. */
const UNUSED_MS = 400;
/** So often the nodes have answered meanwhile, if they had time enough to use it. */
const FEWEST_LOOKS = 8;
/** A node may pass a lock on among its own for a time. A holder that is inside for longer has used it up, in milliseconds. */
const TENURE_OVER_MS = 200;
/** A lock that is kept for those who wait longest is kept at once, or after a tenure: not after so many turns and more. */
const MOST_KEPT = 2;
/** Who asks again and again has done so within this time, in milliseconds; where masters vote it asks at random, and more seldom. */
const ASKS_AGAIN_MS = 100;
const ASKS_MASTERS_AGAIN_MS = 1_000;
const STEP_LIMIT_MS = 5_000;
/** How long the sale may take to enter when its line is well and the lock is free, in milliseconds. */
const ENTER_LIMIT_MS = 2_000;

export const starvation: StepDrill = {
  name: 'starvation',
  needs: ['links'],
  // A lease that outlasts the drill: nobody may enter because it has ended.
  timing: { leaseMs: 30_000, waitTimeoutMs: 600_000 },
  async run(testBed): Promise<Judgement> {
    const { first, second } = testBed;
    const waitingOn = (node: typeof first, count: number) =>
      testBed.waitFor(async () => (await node.state()).waiting === count || undefined, STEP_LIMIT_MS);
    const enteredOn = async (node: typeof first) => (await testBed.holds()).filter((hold) => hold.node === node.name);
    const holder = await testBed.sellInside(first, { untilResumed: true });
    let waiter = testBed.sell(second);
    const askedAt = sharedClock();
    if (!(await waitingOn(second, 1))) return notStaged(`The sale on ${second.name} did not wait.`);
    await testBed.hasAsked(second);
    await first.script({ untilResumed: true, times: OVERTAKES + WAITERS });
    for (let count = 0; count < WAITERS; count += 1) testBed.sell(first);
    if (!(await waitingOn(first, WAITERS))) return notStaged(`The sales on ${first.name} did not wait.`);
    await sleep(Math.max(0, askedAt + TENURE_OVER_MS - sharedClock()));
    await testBed.mustBeInside(holder);
    await testBed.step(
      `Sale ${holder.saleId} on ${first.name} is inside. One sale on ${second.name} waits; others come to ${first.name} without end.`,
    );

    const asksAgainMs = backendOfRow(testBed.stage) === 'masters' ? ASKS_MASTERS_AGAIN_MS : ASKS_AGAIN_MS;
    let overtakes = 0;
    let looks = 0;
    for (; overtakes < OVERTAKES; overtakes += 1) {
      const inside = (await enteredOn(first)).length;
      const line = testBed.cutOff(second);
      const slow = testBed.mark('line slow', { node: second });
      await first.resume();
      looks = 0;
      const next = await testBed.waitFor(async () => {
        looks += 1;
        return (await enteredOn(first))[inside];
      }, UNUSED_MS);
      line.restore();
      slow.over();
      if (next === undefined) break;
      testBed.sell(first);
      // Its line is well again, and it finds the lock taken.
      await testBed.waitFor(() => second.redis().catch(() => undefined), STEP_LIMIT_MS);
      const tried = await testBed.triesOf(second);
      await testBed.waitFor(async () => (await testBed.triesOf(second)) >= tried + 2 || undefined, asksAgainMs);
      if ((await second.state()).waiting > 0) continue;
      if ((await waiter.end).outcome === 'sold') break;
      // Masters that did not answer made its node refuse the sale. Its buyer asks again.
      waiter = testBed.sell(second);
      await waitingOn(second, 1);
    }
    const isWaiting = (await second.state()).waiting === 1;
    const waitedMs = sharedClock() - askedAt;
    // From here on nobody is held inside.
    await first.script({});
    await first.resume();
    if (overtakes === OVERTAKES && isWaiting) {
      const reason = `${OVERTAKES} sales went first that had come later, one after the other, and nothing bounds how many more.`;
      return { verdict: 'fail', reason, figures: { overtakes, waitedMs }, witnesses: [] };
    }

    const timer = startTimer(waiter.hangUp, ENTER_LIMIT_MS);
    const end = await waiter.end.finally(() => stopTimer(timer));
    const figures = { overtakes, waitedMs: sharedClock() - askedAt };
    const standstillMs = testBed.standstillMs();
    if (standstillMs > UNUSED_MS / 2 || looks < FEWEST_LOOKS || overtakes > MOST_KEPT) {
      return notStaged('The machine was too busy to tell for whom the lock was kept.', { isLate: true });
    }
    if (end.outcome === 'cutOff') {
      const reason = `The lock was free, and the sale on ${second.name} did not enter within ${formatDuration(ENTER_LIMIT_MS)}.`;
      return { verdict: 'fail', reason, figures, witnesses: [] };
    }
    if (end.outcome !== 'sold') return notStaged(`The sale on ${second.name} was refused.`, { isLate: true });
    const reason =
      overtakes > 0
        ? `The sale on ${second.name} went in after ${countOf(overtakes, 'sale')} that had come later.`
        : `The sale on ${second.name} went in before all that had come later.`;
    return { verdict: 'pass', reason, figures, witnesses: [] };
  },
};
