// What is said of a Redis that is away while buyers come, and when it holds then.

import type { Hold } from '../evidence/history.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import { countOf, formatDuration } from '../evidence/numbers.ts';
import { sharedClock, sleep } from '../harness/clock.ts';
import { describeLeftKey } from '../harness/left-keys.ts';
import { type Course, demand, needing, type Outage, setting, step } from './course.ts';
import { mustHaveHadTime } from './demands.ts';
import type { Values } from './sentence.ts';

export const outageSteps = [
  setting('there are <count> units in stock', ({ count }) => ({ stock: count })),
  step('<count> are sold, within <limit>', async (course, { count, limit: limitMs }) => {
    // A shop that does not sell again has failed already.
    if (!isShopOpen(course)) return;
    const since = sharedClock();
    const isRush = () => soldSince(course, since) >= count;
    await course.testBed.mustSee(isRush, limitMs, `${count} sales did not take place before the outage.`);
  }),
  needing('links', 'redis process')(
    'Redis stands still (SIGSTOP) for <time>, and <node> finds it again when one of the other node is inside, or <limit> later',
    (course, { time, node, limit }) => goAway(course, 'Redis stands still (SIGSTOP)', { time, late: { node, limit } }),
    { isLong: true },
  ),
  needing('redis process')(
    'Redis is killed (SIGKILL), and starts again with its data after <time>',
    async (course, { time }) => {
      // A shop that does not sell again shows nothing of a second outage, and the embedded server would come back empty.
      if (!isShopOpen(course)) return 'but not now, since nobody sells';
      if (course.testBed.redisKind !== 'native') return 'but not this one, which keeps no data over a restart';
      return goAway(course, 'Redis is killed (SIGKILL)', { time });
    },
    { isLong: true },
  ),
  step('sales flow again, or not within <limit>', async (course, { limit }) => {
    const { testBed, outages } = course;
    const outage = outages.at(-1);
    // One after which the shop stayed closed is looked at once.
    if (outage === undefined || outage.backMs !== undefined || outage.stayed) return;
    const next = () => course.buyers?.ends.find((end) => end.outcome === 'sold' && end.sentAt + end.ms > outage.until);
    const end = await testBed.until(next, limit);
    if (end) outage.backMs = end.sentAt + end.ms - outage.until;
    else outage.stayed = await testBed.keysLeft();
  }),
];

export const outageDemands = [
  demand('every buyer is answered, within <time> while Redis is away', async (course, { ends }, { time: limitMs }) => {
    const { testBed, outages } = course;
    /** How long each request that was under way during an outage stayed unanswered in it. */
    const waits = outages.flatMap(({ from, until }) =>
      ends
        .filter(({ sentAt, ms }) => sentAt < until && sentAt + ms > from)
        .map(({ sentAt, ms }) => Math.min(sentAt + ms, until) - Math.max(sentAt, from)),
    );
    if (waits.length === 0) throw new NotStagedError('Nobody asked while Redis was away.');
    const isServed = outages.some(({ from, until }) =>
      ends.some((end) => end.outcome === 'sold' && end.sentAt > from && end.sentAt + end.ms < until),
    );
    if (isServed) throw new NotStagedError('Redis answered while it was to be away.');
    const slowestMs = Math.max(...waits);
    const countEnds = (...outcomes: string[]) => ends.filter(({ outcome }) => outcomes.includes(outcome)).length;
    const cutOff = countEnds('cutOff', 'nonsense');
    await mustHaveHadTime(testBed, slowestMs - limitMs);
    const wrong = [
      ...(cutOff > 0 ? [`${countOf(cutOff, 'request')} cut off or answered with nonsense.`] : []),
      ...(slowestMs > limitMs ? [`An answer took ${formatDuration(slowestMs)}.`] : []),
    ];
    const refused = countEnds('failed', 'lockTimeout');
    return {
      wrong: wrong.length > 0 ? wrong.join(' ') : undefined,
      right: `While Redis was away an answer took ${formatDuration(slowestMs)} at most`,
      figures: { sent: ends.length, refused, cutOff, limitMs, slowestMs },
    };
  }),
  demand('sales flow again within <time> of its return', async ({ testBed, outages }, _outcome, { time: limitMs }) => {
    const stuck = outages.find(({ backMs }) => backMs === undefined);
    const unasked = outages.find(({ unasked }) => unasked)?.unasked;
    // A shop that stays closed has failed, whoever asked.
    if (stuck === undefined && unasked) throw new NotStagedError(unasked);
    const backMs = Math.max(...outages.map((outage) => outage.backMs ?? 0));
    await mustHaveHadTime(testBed, stuck ? limitMs : 0);
    const stayed = stuck?.stayed?.map(describeLeftKey).join('') ?? '';
    return {
      wrong: stuck && `${stuck.label}: no sale within ${formatDuration(limitMs)} of its return.${stayed}`,
      right: `After its return sales flowed again in ${formatDuration(backMs)}`,
      figures: { ...(stuck === undefined && { backMs }) },
    };
  }),
];

const isShopOpen = ({ outages }: Course) => outages.every(({ backMs }) => backMs !== undefined);

const soldSince = ({ buyers }: Course, at: number) =>
  buyers?.ends.filter((end) => end.outcome === 'sold' && end.sentAt >= at).length ?? 0;

/**
 * Redis is away for a time. A node that finds it again later than the other gives up what it may hold when another is inside. Throws
 * NotStagedError.
 */
async function goAway(
  course: Course,
  label: string,
  { time, late }: { time: number; late?: Values<'node' | 'limit'> },
) {
  const { testBed } = course;
  const link = late?.node.link;
  const redis = await (late ? testBed.stopRedis() : testBed.killRedis());
  const from = sharedClock();
  const mark = testBed.mark(label);
  await sleep(time);
  link?.cut('silent');
  try {
    const until = sharedClock();
    await redis.comeBack();
    mark.over();
    const outage: Outage = { label, from, until };
    course.outages.push(outage);
    if (late === undefined) return;
    const isInside = ({ node, entered, left }: Hold) =>
      node !== late.node.name && entered > until && left === Number.POSITIVE_INFINITY;
    const other = late.node === testBed.first ? testBed.second : testBed.first;
    const tried = testBed.triesOf(other);
    if (await testBed.until(() => testBed.holds().some(isInside), late.limit)) return;
    // Whom the key keeps out has asked for it.
    if (testBed.isLockSeen && testBed.triesOf(other) === tried) {
      outage.unasked = `Nobody at ${other.name} asked for the lock before ${late.node.name} found Redis again.`;
    }
  } finally {
    link?.restore();
  }
}
