// Sentences about semaphores: several sales inside at once.

import { spansOf } from '../evidence/history.ts';
import { STEP_LIMIT_MS } from '../harness/test-bed.ts';
import { because } from '../narration/reasons.ts';
import { told } from '../narration/steps.ts';
import { demand, needing, type Playing, step } from './playing.ts';

/** Within what time a sale enters if it enters without a permit, in milliseconds: a waiter tries every 20. */
const ONE_TOO_MANY_MS = 500;

export const steps = [
  needing('permits')(
    'as many others as there are permits arrive at node-2, and are held inside or wait',
    async (playing) => {
      const { record, second } = playing;
      const permits = await permitsOf(playing);
      await second.script({ untilResumed: true, times: 1_000 });
      playing.crowd = Array.from({ length: permits }, () => playing.sales.sell(second));
      const areThere = () => insideOf(playing) + record.waitingAt(second) === permits;
      await record.mustSee(areThere, STEP_LIMIT_MS, `${permits} buyers did not arrive at ${second.name}.`);
      await record.until(() => insideOf(playing) >= permits - 1, STEP_LIMIT_MS);
      await record.until(() => insideOf(playing) === permits, ONE_TOO_MANY_MS);
      return howMany(playing);
    },
  ),
  step('all of them are inside, or not within <limit>', async (playing, { limit }) => {
    const { crowd, clock, record, faultAt, figures } = playing;
    const areInside = await record.until(() => insideOf(playing) === crowd.length, limit);
    figures[areInside ? 'takeoverMs' : 'keptOutMs'] = clock.now() - faultAt;
    return howMany(playing);
  }),
  step('all of them resume', async ({ crowd, second }) => {
    await second.script({});
    await second.resume();
    return told('others resumed', { node: second.name, sales: crowd.length });
  }),
];

export const demands = [
  demand('as many sales are inside at once as there are permits', async (playing, { events }) => {
    const [permits, most] = [await permitsOf(playing), mostAtOnce(events)];
    const wrong = most < permits && because('too few inside', { most, permits });
    return { right: because('permits taken', { permits }), wrong, figures: { mostInside: most } };
  }),
  demand('never more sales are inside than there are permits', async (playing, { events }) => {
    const [permits, most] = [await permitsOf(playing), mostAtOnce(events)];
    return { wrong: most > permits && because('too many inside', { most, permits }), figures: { mostInside: most } };
  }),
  demand('all of them have entered', ({ figures: { takeoverMs, keptOutMs = 0 }, second }) => ({
    wrong: takeoverMs === undefined && because('permit not back', { node: second.name, ms: keptOutMs }),
  })),
];

const permitsOf = async ({ second }: Playing) => (await second.state()).permits;

/** How many sales of the second node are inside now. */
const insideOf = ({ record, second }: Playing) =>
  spansOf([...record.events()]).filter(({ node, left }) => node === second.name && left === Number.POSITIVE_INFINITY)
    .length;

function howMany(playing: Playing) {
  const inside = insideOf(playing);
  const waiting = playing.crowd.length - inside;
  return told('others inside or waiting', { node: playing.second.name, inside, waiting });
}

/** The most that were inside at one moment. A sale that enters when another leaves does not overlap with it. */
function mostAtOnce(events: Parameters<typeof spansOf>[0]): number {
  const spans = spansOf(events);
  const insideAt = (at: number) => spans.filter(({ entered, left }) => entered <= at && at < left).length;
  return Math.max(0, ...spans.map(({ entered }) => insideAt(entered)));
}
