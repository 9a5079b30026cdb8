// Counts the commands of a lock: of waiters, of holders, and of the waiters that a release wakes.

import { countOf, formatMeasure } from '../../narration/numbers.ts';
import { doesNotApply, Fault, holds, STEP_LIMIT_MS } from '../outcome.ts';
import { LEASE_MS, type LockUnderTest, type Process, type Staging } from '../staging.ts';

const WAITERS_OF_EACH = 20;
/** How long the waiters take until all wait, and to react to a release, in milliseconds. */
const SETTLE_MS = 600;
const STIR_MS = 150;
/** From how many commands without a release on the waiters poll by themselves. */
const MOST_UNSTIRRED = 10;
/** The most commands per second that a waiter or holder may send to each server: a waiter may try three times in each delay of 20 ms. */
const MOST_WAITING = 150;
const MOST_HOLDING = 50;
/** In the busiest moment only the commands that name the key count, since a new connection needs several others. In milliseconds. */
const MOMENT_MS = 100;

/** One release may wake only some of the waiters. What they would send anyway does not count. */
export async function herd({ stage }: LockUnderTest) {
  const waiters = 2 * WAITERS_OF_EACH;
  const { sent, windowMs } = await stage((staging) => stir(staging));
  if (windowMs === undefined) return doesNotApply('A release wakes none of its waiters.');
  const unstirred = (await stage((staging) => stir(staging, windowMs))).sent;
  if (unstirred >= waiters) return doesNotApply('Each of its waiters polls by itself, with or without a release.');
  const woken = Math.max(0, sent - unstirred);
  const said = `One release with ${waiters} waiters on two nodes caused ${countOf(woken, 'command')}.`;
  if (woken >= WAITERS_OF_EACH / 2) throw new Fault(`${said} It wakes many waiters to let one in.`, { woken });
  if (unstirred > MOST_UNSTIRRED)
    return doesNotApply(`${said} Without the release the waiters would have sent ${countOf(unstirred, 'command')}.`, {
      woken,
    });
  return holds(said, { woken });
}

/** What the waiters send from a release until shortly after one enters; with `quietMs`, for that long and without the release. */
async function stir({ process, story }: Staging, quietMs?: number) {
  const a = process().holder('A');
  await a.enters();
  const processes = [process(), process()];
  const asked = processes.flatMap((each) =>
    Array.from({ length: WAITERS_OF_EACH }, (_, at) => each.holder(`waiter ${at + 1}`).acquire()),
  );
  const sentSince = (from: number) => processes.reduce((sum, each) => sum + each.sentSince(from).length, 0);
  await story.pass(SETTLE_MS);
  const from = story.now();
  if (quietMs !== undefined) {
    await story.pass(quietMs);
    return { sent: sentSince(from) };
  }
  await a.leaves();
  const { how } = await story.endOf(Promise.race(asked), STEP_LIMIT_MS);
  await story.pass(STIR_MS);
  const sent = sentSince(from);
  story.say(`${countOf(sent, 'command')} of the waiters`);
  return { sent, windowMs: how === 'done' ? story.now() - from : undefined };
}

/** How many commands a second the connections of one waiter and of one holder send, PING and the like included. */
export const commands = ({ stage }: LockUnderTest) =>
  stage(async ({ two, story }) => {
    const { p, q, a, b } = two(LEASE_MS);
    await a.enters();
    const from = story.now();
    const rates = [rateFrom(p, from), rateFrom(q, from)] as const;
    void b.acquire();
    await story.pass(LEASE_MS / 2);
    const waiting = rates[1](story.now());
    b.abort();
    await story.pass(LEASE_MS / 2);
    const holding = rates[0](story.now());
    const figures = { waitingPerSecond: waiting.average, holdingPerSecond: holding.average };
    const said = `${formatMeasure(waiting.average)} commands per second while it waits, ${formatMeasure(holding.average)} while it holds`;
    const isTooMany = (which: 'average' | 'most') => waiting[which] > MOST_WAITING || holding[which] > MOST_HOLDING;
    const allowed = `${MOST_WAITING} and ${MOST_HOLDING} are allowed`;
    if (isTooMany('average')) throw new Fault(`${said}: ${allowed}.`, figures);
    if (!isTooMany('most')) return holds(`${said}.`, figures);
    const most = `${formatMeasure(waiting.most)} and ${formatMeasure(holding.most)} in the busiest moments`;
    throw new Fault(`${said}, and ${most}: ${allowed}.`, figures);
  });

/** Commands a second and server: all from now on, and those in the busiest moment that name the key. */
function rateFrom({ sentSince, sentInAll, lines }: Process, from: number) {
  const before = sentInAll();
  const perSecond = (count: number, ms: number) => count / lines.length / (ms / 1_000);
  return (until: number) => {
    const times = sentSince(from).map(({ at }) => at);
    const moments = times.map((start) => times.filter((at) => at >= start && at < start + MOMENT_MS).length);
    return {
      average: perSecond(sentInAll() - before, until - from),
      most: perSecond(Math.max(0, ...moments), MOMENT_MS),
    };
  };
}
