// One holder stays inside while others retry as fast as they can. What does each failed try leave in memory?

import { formatMeasure, formatNumber } from '../evidence/numbers.ts';
import { type Judgement, notStaged, type StepDrill } from '../harness/step-drill.ts';

const WAITERS = 20;
const TRIES = 15_000;
/** The first tries fill caches and compile code, which is no cost of a try. */
const WARM_UP_TRIES = 3_000;
const MEASURE_LIMIT_MS = 8_000;
/** Of the tries that a machine makes within the limit, so many are needed to tell bytes from noise. */
const FEWEST_TRIES = 5_000;
/** Fewer than one in 100 ms for each waiter: one that tries so seldom waits for something else. */
const SELDOM_TRIES = (WAITERS * MEASURE_LIMIT_MS) / 100;
/** A try that leaves nothing behind measures a byte or less; a promise that waits for the next one, hundreds. */
const FLAT_BYTES = 60;

export const longWait: StepDrill = {
  name: 'long-wait',
  // A lease that outlasts the drill, and no pause between two tries.
  timing: { leaseMs: 60_000, retryDelayMs: 0, waitTimeoutMs: 60_000 },
  async run(testBed): Promise<Judgement> {
    const { first, second } = testBed;
    const holder = await testBed.sellInside(first, { untilResumed: true });
    const waiters = Array.from({ length: WAITERS }, () => testBed.sell(second));
    const areWaiting = await testBed.waitFor(
      async () => (await second.state()).waiting === WAITERS || undefined,
      MEASURE_LIMIT_MS,
    );
    if (!areWaiting) return notStaged(`The sales on ${second.name} did not wait.`);
    await testBed.say(
      `Sale ${holder.saleId} on ${first.name} stays inside; ${WAITERS} sales on ${second.name} try again and again.`,
    );

    const tries = () => testBed.triesOf(second);
    const asked = await tries();
    await testBed.waitFor(async () => (await tries()) - asked >= WARM_UP_TRIES || undefined, MEASURE_LIMIT_MS);
    const heapBefore = await second.heap();
    const triesBefore = await tries();
    const triesSince = async () => (await tries()) - triesBefore;
    await testBed.waitFor(async () => (await triesSince()) >= TRIES || undefined, MEASURE_LIMIT_MS);
    const heapAfter = await second.heap();
    const tried = await triesSince();
    for (const waiter of waiters) waiter.hangUp();
    await first.resume();
    await holder.end;
    if (tried < FEWEST_TRIES) {
      // Polling without a pause makes thousands.
      const nothingToBreak = tried < SELDOM_TRIES;
      return notStaged(`Only ${tried} tries were made: too few to measure.`, { nothingToBreak });
    }

    const bytesPerTry = Math.max(0, (heapAfter - heapBefore) / tried);
    const figures = { bytesPerTry, tries: tried };
    const reason = `Each failed try keeps ${formatMeasure(bytesPerTry)} bytes: ${formatNumber(tried)} tries, ${formatNumber((heapAfter - heapBefore) / 1024)} kB.`;
    if (bytesPerTry < FLAT_BYTES) return { verdict: 'pass', reason, figures, witnesses: [] };
    const limit = `A try that leaves nothing behind keeps fewer than ${FLAT_BYTES}.`;
    return { verdict: 'fail', reason: `${reason} ${limit}`, figures, witnesses: [] };
  },
};
