// What is said of others, who sell meanwhile, and of time that passes.

import { told } from '../narration/steps.ts';
import { actorOf, type Course, mend, mustBeInside, mustBeSo, step } from './course.ts';
import { allWait, countTries } from './sales.ts';
import type { Values } from './sentence.ts';

/** How long another node tries in vain when a sale was refused because no replica had confirmed its lock, in milliseconds. */
const REFUSED_MS = 1_000;
/** A buyer who is refused comes again after so long, in milliseconds. */
const AGAIN_MS = 100;
/** So many units are sold meanwhile at most, and who is refused then comes again after so long, in milliseconds. */
const MEANWHILE = 3;
const SOON_MS = 20;
/** How long a sale takes that others make meanwhile, in milliseconds: long enough to be seen in a picture. */
const SALE_MS = 100;

export const meanwhileSteps = [
  step('<node> sells what it can, for <limit>[, while <sale> is inside]', sellMeanwhile),
  step('the next sales at <node> take <time> each', async (_course, { node, time }) => {
    await node.script({ pauseMs: time, times: 1_000 });
    return told('sales slowed', { node: node.name, ms: time });
  }),
  step('<count> buyers come again and again, each for <time>', async (course, { count, time: pauseMs }) => {
    const { first, second } = course;
    for (const node of [first, second]) await node.script({ pauseMs, times: 1_000 });
    course.broken.set('buyers come', comeAgain(course, count));
    return told('buyers began', { buyers: count, ms: pauseMs });
  }),
  step('the buyers stop', async (course) => {
    await mend(course, 'buyers come');
    return told('buyers stopped');
  }),
  step('<time> pass[es]', async ({ clock }, { time }) => {
    await clock.sleep(time);
    return told('time passed', { ms: time });
  }),
];

/**
 * Sells a few units on a node, one after the other, for so long at most in all. When nothing was sold, whoever wanted to must have had to
 * wait; but nobody waits for one who was refused.
 */
async function sellMeanwhile(course: Course, { node, limit, sale }: Values<'node' | 'limit'> & { sale?: string }) {
  const holder = sale === undefined ? undefined : actorOf(course, sale);
  const isRefused = holder !== undefined && holder.inside === undefined;
  const limitMs = isRefused ? REFUSED_MS : limit;
  await course.say(told('others came', { node: node.name }));
  const triesSince = countTries(course, node);
  await node.script({ pauseMs: SALE_MS, times: MEANWHILE });
  const startedAt = course.clock.now();
  const leftMs = () => startedAt + limitMs - course.clock.now();
  let sold = 0;
  while (sold < MEANWHILE && leftMs() > 0) {
    if ((await course.sales.sell(node).endWithin(leftMs())).outcome === 'sold') sold += 1;
    else await course.clock.sleep(SOON_MS);
  }
  const [tries, ms] = [triesSince(), course.clock.now() - startedAt];
  Object.assign(course.figures, { soldMeanwhile: sold });
  if (holder?.inside) {
    mustBeInside(course, holder.inside);
    mustBeSo(course, async () => {
      const { outcome } = await holder.sale.end;
      return sold > 0 || outcome === 'sold' || 'After the fault nobody could sell at all.';
    });
  }
  // Any lease that still runs ends meanwhile.
  if (holder === undefined) await course.clock.sleep(Math.max(0, leftMs()));
  if (!isRefused && sold === 0) {
    await course.record.mustHaveWaited(node, startedAt);
    allWait(course, startedAt);
  }
  if (sold > 0) return told('others sold', { node: node.name, sold, ms });
  return tries > 0
    ? told('others asked in vain', { node: node.name, tries, ms })
    : told('others sold nothing', { node: node.name, ms });
}

/**
 * Buyers who come over both nodes in turn, each again when it has its answer. Returns what stops them: that resolves when the last one has
 * its answer.
 */
function comeAgain(course: Course, count: number) {
  let areComing = true;
  const all = Promise.all(
    Array.from({ length: count }, async (_, buyer) => {
      while (areComing) {
        const { outcome } = await course.sales.sell(buyer % 2 ? course.first : course.second).end;
        if (outcome !== 'sold') await course.clock.sleep(AGAIN_MS);
      }
    }),
  );
  // A drill that is stopped waits for nobody.
  all.catch(() => {});
  return () => {
    areComing = false;
    return all;
  };
}
