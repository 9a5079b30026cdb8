// What is said of many buyers at once who wait for the lock, and when it holds then.

import { NotStagedError } from '../evidence/not-staged.ts';
import { countOf, formatDuration, formatMeasure, formatNumber } from '../evidence/numbers.ts';
import { sharedClock } from '../harness/clock.ts';
import type { TargetNode } from '../harness/target.ts';
import { STEP_LIMIT_MS } from '../harness/test-bed.ts';
import { type Course, demand, needing, setting, step } from './course.ts';
import { mustHaveHadTime } from './demands.ts';

/** How long it may take until nobody waits who has hung up, in milliseconds. */
const HANG_UP_LIMIT_MS = 1_000;
/** Of the tries that are asked for, so many are needed to tell bytes from noise. */
const FEWEST = 1 / 3;
/** So often a node is asked for what takes longer than a try. Who waits there and tries at once has tried half as often at least. */
const QUESTIONS = 20;

export const buyerSteps = [
  setting('who waits tries again at once', () => ({ timing: { retryDelayMs: 0 } })),
  step('<count> buyers come to <node>, and wait', (course, { count, node }) => crowd(course, count, node)),
  step('the buyers hang up', hangUp),
  /** The memory of the first of them is that of code which is compiled. */
  needing('links')(
    '<node> tries <count> times, for <limit> at most[, and its memory is measured]',
    async (course, { node, count, limit: limitMs }) => {
      const { testBed, crowd } = course;
      const [triesBefore, bytesBefore] = [testBed.triesOf(node), await node.heap()];
      const made = () => testBed.triesOf(node) - triesBefore;
      await testBed.until(() => made() >= count, limitMs);
      const tries = made();
      course.memory = { tries, bytes: (await node.heap()) - bytesBefore };
      if (tries >= FEWEST * count) return;
      const nothingToBreak = await trySeldom(course, node);
      // They may have ended while the node was asked.
      await testBed.catchUp();
      if (testBed.waitingAt(node) < crowd.length) {
        throw new NotStagedError(`Some of the buyers at ${node.name} did not wait any more.`);
      }
      throw new NotStagedError(`Only ${tries} tries were made: too few to measure.`, { nothingToBreak });
    },
    { isLong: true },
  ),
];

export const buyerDemands = [
  demand('one sale at most is in doubt', (_course, { ends }) => {
    const inDoubt = ends.filter(({ outcome }) => outcome === 'inDoubt').length;
    const wrong = inDoubt > 1 ? `${inDoubt} of ${ends.length} buyers do not know whether they have bought` : undefined;
    return { wrong, figures: { asked: ends.length, inDoubt } };
  }),
  demand('no buyer waits for <time> after it has hung up', async (course, { events }, { time: limitMs }) => {
    const { testBed, crowd, hungUpAt = 0 } = course;
    const gone = events.filter(({ code, at }) => code === 'CLIENT_GONE' && at >= hungUpAt);
    const inTime = gone.filter(({ at }) => at <= hungUpAt + limitMs);
    const stillWaiting = crowd.length - inTime.length;
    await mustHaveHadTime(testBed, stillWaiting > 0 ? limitMs : 0);
    const emptyMs = Math.max(0, ...inTime.map(({ at }) => at - hungUpAt));
    return {
      right: `After ${formatDuration(emptyMs)} nobody waited any more`,
      wrong:
        stillWaiting > 0
          ? `${countOf(stillWaiting, 'sale')} still waited for clients that had hung up ${formatDuration(limitMs)} before`
          : undefined,
      figures: { emptyMs, stillWaiting },
    };
  }),
  demand('nothing is sold to a buyer that has hung up', async ({ testBed: { first, second } }, { ends }) => {
    const states = await Promise.all([first, second].map((node) => node.state()));
    const answered = ends.filter(({ outcome }) => outcome === 'sold').length;
    const soldToNobody = states.reduce((sum, { counts }) => sum + counts.sold, 0) - answered;
    const wrong = soldToNobody > 0 ? `${countOf(soldToNobody, 'unit')} went to clients that had gone` : undefined;
    return { wrong, figures: { soldToNobody } };
  }),
  demand('a try keeps fewer than <count> bytes', ({ memory = { tries: 0, bytes: 0 } }, _outcome, { count }) => {
    const { tries, bytes } = memory;
    const bytesPerTry = Math.max(0, bytes / tries);
    const right = `Each failed try keeps ${formatMeasure(bytesPerTry)} bytes: ${formatNumber(tries)} tries, ${formatNumber(bytes / 1024)} kB`;
    const wrong = bytesPerTry < count ? undefined : right;
    return { wrong, right, figures: { bytesPerTry, tries } };
  }),
];

/** Resolves when all of them wait. Throws NotStagedError when they don't in time. */
async function crowd(course: Course, count: number, node: TargetNode) {
  const { testBed } = course;
  course.crowd = Array.from({ length: count }, () => testBed.sell(node));
  const doWait = () => testBed.waitingAt(node) === count;
  await testBed.mustSee(doWait, STEP_LIMIT_MS, `${count} buyers did not wait at ${node.name}.`);
}

/** Resolves when none of them waits any more, or when that takes too long. */
async function hangUp(course: Course) {
  const { testBed, crowd } = course;
  course.hungUpAt = sharedClock();
  for (const { hangUp } of crowd) hangUp();
  const { first, second } = testBed;
  const node = crowd[0]?.node === first.name ? first : second;
  testBed.mark(`${crowd.length} clients hang up`, { node });
  await testBed.until(() => testBed.waitingAt(node) === 0, HANG_UP_LIMIT_MS);
}

/** Those who wait at a node try more seldom than it could: the lock waits for something else, and the machine is not why. */
async function trySeldom({ testBed, crowd }: Course, node: TargetNode): Promise<boolean> {
  const before = testBed.triesOf(node);
  for (let asked = 0; asked < QUESTIONS; asked += 1) await node.redis();
  return testBed.triesOf(node) - before < (crowd.length * QUESTIONS) / 2;
}
