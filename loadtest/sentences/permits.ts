// What is said of several who are inside at once, and when a semaphore holds then.

import { type Hold, spansOf } from '../evidence/history.ts';
import type { TargetNode } from '../harness/target.ts';
import { STEP_LIMIT_MS } from '../harness/test-bed.ts';
import { because } from '../narration/reasons.ts';
import { told } from '../narration/steps.ts';
import { demand, needing, type Playing, step } from './playing.ts';
import type { Finding } from './sentence.ts';

/** Who gets in although no permit is left has done so within this time, in milliseconds: who waits asks each 20. */
const ONE_TOO_MANY_MS = 500;

export const permitSteps = [
  needing('permits')(
    'as many others as there are permits come to <node>, and are held inside or wait',
    async (playing, { node }) => {
      const permits = await permitsOf(playing);
      await node.script({ untilResumed: true, times: 1_000 });
      playing.crowd = Array.from({ length: permits }, () => playing.sales.sell(node));
      const inside = () => heldAt(playing, node);
      const areThere = () => inside() + playing.record.waitingAt(node) === permits;
      await playing.record.mustSee(areThere, STEP_LIMIT_MS, `${permits} buyers did not come to ${node.name}.`);
      await playing.record.until(() => inside() >= permits - 1, STEP_LIMIT_MS);
      await playing.record.until(() => inside() === permits, ONE_TOO_MANY_MS);
      return told('others inside or waiting', { node: node.name, inside: inside(), waiting: permits - inside() });
    },
  ),
  step('all of them are inside, or not within <limit>', async (playing, { limit }) => {
    const { crowd, clock, second } = playing;
    const isInside = () => heldAt(playing, second) === crowd.length;
    const areInside = await playing.record.until(isInside, limit);
    const ms = clock.now() - playing.faultAt;
    Object.assign(playing.figures, areInside ? { takeoverMs: ms } : { keptOutMs: ms });
    return told('others inside or waiting', {
      node: second.name,
      inside: heldAt(playing, second),
      waiting: crowd.length - heldAt(playing, second),
    });
  }),
  step('all of them go on', async ({ crowd, second }) => {
    await second.script({});
    await second.resume();
    return told('others resumed', { node: second.name, sales: crowd.length });
  }),
];

export const permitDemands = [
  demand('as many are inside at the same moment as there are permits', async (playing, { events }) => {
    const permits = await permitsOf(playing);
    const most = mostAtOnce(spansOf(events));
    const wrong = most < permits && because('too few inside', { most, permits });
    return { right: because('permits taken', { permits }), wrong, figures: { mostInside: most } };
  }),
  demand('never more are inside than there are permits', async (playing, { events }): Promise<Finding> => {
    const permits = await permitsOf(playing);
    const most = mostAtOnce(spansOf(events));
    return {
      wrong: most > permits && because('too many inside', { most, permits }),
      figures: { mostInside: most },
    };
  }),
  demand('all of them have been inside', ({ figures, second }) => {
    const { takeoverMs, keptOutMs = 0 } = figures;
    return { wrong: takeoverMs === undefined && because('permit not back', { node: second.name, ms: keptOutMs }) };
  }),
];

const permitsOf = async ({ second }: Playing) => (await second.state()).permits;

/** How many sales of a node are inside now. */
const heldAt = ({ record }: Playing, { name }: TargetNode) =>
  spansOf([...record.events()]).filter(({ node, left }) => node === name && left === Number.POSITIVE_INFINITY).length;

/** How many were inside at most at one moment. One who enters when another leaves does not meet that one. */
function mostAtOnce(holds: Hold[]): number {
  const steps = holds.flatMap(({ entered, left }) => [
    { at: entered, by: 1 },
    { at: left, by: -1 },
  ]);
  let [inside, most] = [0, 0];
  for (const { by } of steps.sort((a, b) => a.at - b.at || a.by - b.by)) {
    inside += by;
    most = Math.max(most, inside);
  }
  return most;
}
