// What is said of masters that stand still or answer late, and when a lock holds then.

import type { SaleEnd } from '../evidence/answers.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import { formatDuration } from '../evidence/numbers.ts';
import type { TestBed } from '../harness/test-bed.ts';
import { actorOf, type Course, demand, mustBeSo, needing, step } from './course.ts';
import type { Finding } from './sentence.ts';
import { quorumOf, sell } from './sentences.ts';

/** How long a sale may take that nobody keeps out, in milliseconds. */
const SALE_LIMIT_MS = 5_000;
/** How long it may take until a master has heard a node, in milliseconds. */
const HEARD_LIMIT_MS = 300;

export const masterSteps = [
  needing('masters', 'master processes')('master <count> is stopped (SIGSTOP)', async ({ testBed }, { count }) => {
    const { masterCount } = testBed;
    if (masterCount <= 2 * count) {
      throw new NotStagedError(`${masterCount} masters: ${count} are no minority.`);
    }
    await testBed.freezeMaster(count - 1);
    testBed.mark(`master ${count} SIGSTOP`);
  }),
  step(
    '<count> sales come one after the other',
    async (course, { count }) => {
      const { first, second, sellWithin } = course.testBed;
      const ends: SaleEnd[] = [];
      for (let sale = 0; sale < count; sale += 1) {
        ends.push(await sellWithin(sale % 2 ? second : first, SALE_LIMIT_MS));
      }
      course.rounds.push(ends);
      return `${ends.length - unsoldOf(ends)} are sold, in ${formatDuration(middleOf(ends))} each`;
    },
    { isLong: true },
  ),
  needing(
    'masters',
    'links',
    'master processes',
  )(
    '<sale> sells at <node> for <time>, and its votes come <limit> late',
    async (course, { sale, node, time, limit }) => {
      const { testBed } = course;
      const before = testBed.triesOf(node);
      await node.script({ pauseMs: time });
      const majority = Array.from({ length: quorumOf(testBed.masterCount) }, (_, master) => master);
      const delay = testBed.delayMasters(node, majority, limit);
      const { over } = testBed.mark('votes late', { node });
      sell(course, sale, node);
      const measured = delay.measure();
      course.lateVotes = async () => {
        const ms = await measured;
        delay.over();
        over();
        return ms;
      };
      const haveHeard = () => testBed.triesOf(node) > before;
      await testBed.mustSee(haveHeard, HEARD_LIMIT_MS, `The masters did not hear ${node.name} in time.`);
    },
  ),
  step('the votes for <sale> have come', async (course, { sale }) => {
    const { leaseMs } = course.testBed;
    const { node, askedAt } = actorOf(course, sale);
    const ms = (await course.lateVotes?.()) ?? 0;
    if (ms < leaseMs) throw new NotStagedError(`The answers were not late: they took ${formatDuration(ms)}.`);
    mustBeSo(course, ({ events }) => {
      const early = events.filter(({ at, type }) => type === 'entered' && at > askedAt && at < askedAt + leaseMs);
      return early.every((event) => event.node !== node.name) || `${node.name} entered before the votes were late.`;
    });
    return `they took ${formatDuration(ms)}`;
  }),
];

export const masterDemands = [
  demand('all are sold, and the middle one takes <time> longer at most', ({ testBed, rounds }, _outcome, { time }) =>
    judgePace(testBed, rounds, time),
  ),
];

/** The first round shows the usual pace. Throws NotStagedError when it can't be told what masters that stand still have cost. */
async function judgePace(testBed: TestBed, rounds: Course['rounds'], limitMs: number): Promise<Finding> {
  const [usual = [], ...others] = rounds;
  if (unsoldOf(usual) > 0) throw new NotStagedError('The shop did not sell before the fault.');
  const during = others.flat();
  const usualMs = middleOf(usual);
  const costMs = Math.max(0, Math.max(...others.map(middleOf)) - usualMs);
  const unsold = unsoldOf(during);
  const slowestSaleMs = Math.max(...during.map(({ ms }) => ms));
  const isSlow = costMs > limitMs;
  // A vote that waits as long for its turn is no vote.
  if (unsold > 0 || isSlow) await testBed.mustHaveGoneOn(limitMs);
  const wrong = [
    ...(unsold > 0 ? [`${unsold} of ${during.length} sales did not take place.`] : []),
    ...(isSlow ? [`A sale takes ${formatDuration(costMs)} longer, as long as a master is away.`] : []),
  ];
  return {
    wrong: wrong.length > 0 ? wrong.join(' ') : undefined,
    right: `Sales took ${formatDuration(costMs)} more each, and the slowest ${formatDuration(slowestSaleMs)}.`,
    figures: { unsold, usualMs, costMs, limitMs, slowestSaleMs },
  };
}

const unsoldOf = (sales: SaleEnd[]) => sales.filter(({ outcome }) => outcome !== 'sold').length;

/** How long the middle one took: a fault that is there costs them all, a busy machine a few. */
function middleOf(sales: SaleEnd[]): number {
  return sales.map(({ ms }) => ms).sort((a, b) => a - b)[Math.floor(sales.length / 2)] ?? 0;
}
