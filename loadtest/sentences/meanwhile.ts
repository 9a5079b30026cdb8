// Sentences about other sales meanwhile, and about time that passes.

import { told } from '../narration/steps.ts';
import { actorOf, mend, mustBeInside, mustBeSo, type Playing, step } from './playing.ts';
import { allWait, countTries } from './sales.ts';
import type { Values } from './sentence.ts';

/** How long another node tries without success after a sale was refused because no replica had confirmed its lock, in milliseconds. */
const REFUSED_MS = 1_000;
/** After how long a refused buyer tries again, in milliseconds. */
const AGAIN_MS = 100;
/** How many units are sold meanwhile at most, and after how long a refused buyer tries again, in milliseconds. */
const MEANWHILE = 3;
const SOON_MS = 20;
/** How long each of the other sales takes, in milliseconds: long enough to be seen in a picture. */
const SALE_MS = 100;

export const steps = [
  step('<node> sells what it can, for <limit>[, while <sale> is inside]', sellMeanwhile),
  step('the next sales at <node> take <time> each', async (_course, { node, time }) => {
    await node.script({ pauseMs: time, times: 1_000 });
    return told('sales slowed', { node: node.name, ms: time });
  }),
  step('<count> buyers buy in a loop, <time> each time', async (playing, { count, time: pauseMs }) => {
    const { first, second } = playing;
    for (const node of [first, second]) await node.script({ pauseMs, times: 1_000 });
    playing.broken.set('buyers come', comeAgain(playing, count));
    return told('buyers began', { buyers: count, ms: pauseMs });
  }),
  step('the buyers stop', async (playing) => {
    await mend(playing, 'buyers come');
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
async function sellMeanwhile(playing: Playing, { node, limit, sale }: Values<'node' | 'limit'> & { sale?: string }) {
  const holder = sale === undefined ? undefined : actorOf(playing, sale);
  const isRefused = holder !== undefined && holder.inside === undefined;
  const limitMs = isRefused ? REFUSED_MS : limit;
  await playing.say(told('others came', { node: node.name }));
  const triesSince = countTries(playing, node);
  await node.script({ pauseMs: SALE_MS, times: MEANWHILE });
  const startedAt = playing.clock.now();
  const leftMs = () => startedAt + limitMs - playing.clock.now();
  let sold = 0;
  while (sold < MEANWHILE && leftMs() > 0) {
    if ((await playing.sales.sell(node).endWithin(leftMs())).outcome === 'sold') sold += 1;
    else await playing.clock.sleep(SOON_MS);
  }
  const [tries, ms] = [triesSince(), playing.clock.now() - startedAt];
  Object.assign(playing.figures, { soldMeanwhile: sold });
  if (holder?.inside) {
    mustBeInside(playing, holder.inside);
    mustBeSo(playing, async () => {
      const { outcome } = await holder.sale.end;
      return sold > 0 || outcome === 'sold' || 'After the fault no sale succeeded at all.';
    });
  }
  // Any lease that still runs ends meanwhile.
  if (holder === undefined) await playing.clock.sleep(Math.max(0, leftMs()));
  if (!isRefused && sold === 0) {
    await playing.record.mustHaveWaited(node, startedAt);
    allWait(playing, startedAt);
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
function comeAgain(playing: Playing, count: number) {
  let areComing = true;
  const all = Promise.all(
    Array.from({ length: count }, async (_, buyer) => {
      while (areComing) {
        const { outcome } = await playing.sales.sell(buyer % 2 ? playing.first : playing.second).end;
        if (outcome !== 'sold') await playing.clock.sleep(AGAIN_MS);
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
