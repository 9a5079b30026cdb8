// What is said of the servers of a lock that die, fewer than half of them and then a majority, and when it holds then.

import { NotStagedError } from '../evidence/not-staged.ts';
import { deed } from '../narration/faults.ts';
import { because } from '../narration/reasons.ts';
import { told } from '../narration/steps.ts';
import { mustHaveHadTime } from './demands.ts';
import { quorumOf } from './masters.ts';
import { breaks, demand, mend, needing, type Playing, step } from './playing.ts';

const killing = needing('lock servers');
const brokenAs = 'servers of the lock';

export const lockServerSteps = [
  killing('a minority of the servers of the lock is killed (SIGKILL)', async (playing) => {
    const servers = playing.faults.lockServers;
    const killed = servers - quorumOf(servers);
    if (killed === 0) return told('no minority');
    const dead: { comeBack(): unknown }[] = [];
    // The last of them leads the others of a ZooKeeper, more often than not.
    for (let at = 1; at <= killed; at += 1) dead.push(await kill(playing, servers - at));
    playing.minority = { killed, from: playing.clock.now() };
    breaks(playing, brokenAs, deed('lock servers killed', { killed }), undefined, async () => {
      for (const { comeBack } of dead) await comeBack();
    });
    return told('minority killed', { killed, servers });
  }),
  step('sales go on, or not within <limit>', async (playing, { limit }) => {
    const { minority } = playing;
    if (minority === undefined) return told('no server missing');
    const ms = await untilSold(playing, minority, limit);
    return ms === undefined ? told('sales did not go on', { ms: limit }) : told('sales went on', { ms });
  }),
  killing('one more of them is killed (SIGKILL), and all start again after <time>', async (playing, { time }) => {
    const { clock, faults, mark, minority } = playing;
    // A shop that does not sell shows nothing of a second outage.
    if (minority && minority.soldAt === undefined) return told('shop closed');
    const servers = faults.lockServers;
    const killed = (minority?.killed ?? 0) + 1;
    const last = await kill(playing, servers - killed);
    const from = clock.now();
    const { over } = mark(deed('lock servers killed', { killed }));
    await playing.say(told('majority killed', { killed, servers }));
    await clock.sleep(time);
    const until = clock.now();
    await last.comeBack();
    over();
    playing.majority = { from, until, back: { from: clock.now() } };
    await mend(playing, brokenAs);
    return told('lock servers started again', { servers: killed, ms: until - from });
  }),
  step('with the majority sales come back, or not within <limit>', async (playing, { limit }) => {
    if (playing.majority === undefined) return told('shop closed');
    const ms = await untilSold(playing, playing.majority.back, limit);
    return ms === undefined ? told('sales did not go on', { ms: limit }) : told('sales went on', { ms });
  }),
];

export const lockServerDemands = [
  demand('sales go on within <time> while a majority of the servers lives', async (playing, _outcome, { time }) => {
    const { minority } = playing;
    if (minority === undefined) return { right: because('single point of failure', {}) };
    const { killed, from, soldAt } = minority;
    if (soldAt !== undefined) return { right: because('sold without a minority', { killed, ms: soldAt - from }) };
    await mustHaveHadTime(playing, time);
    return { wrong: because('nothing sold without a minority', { killed, limitMs: time }) };
  }),
  demand(
    'nobody buys without a majority, and each buyer has a clear answer within <time>',
    async (playing, { ends }, { time: limitMs }) => {
      if (playing.majority === undefined) return {};
      const { from, until } = playing.majority;
      const asked = ends.filter(({ sentAt }) => sentAt > from && sentAt < until);
      if (asked.length === 0) throw new NotStagedError('Nobody asked while no majority of the servers lived.');
      const sold = asked.filter(({ outcome, sentAt, ms }) => outcome === 'sold' && sentAt + ms < until).length;
      const slowestMs = Math.max(...ends.map(({ ms }) => ms));
      const requests = ends.filter(({ outcome }) => outcome === 'cutOff' || outcome === 'nonsense').length;
      await mustHaveHadTime(playing, slowestMs - limitMs);
      const refusals = asked.flatMap((end) => ('code' in end ? [end] : []));
      const codes = [...new Set(refusals.map(({ code }) => code))].sort();
      const ms = Math.max(...refusals.map((end) => end.ms));
      return {
        wrong: [
          ...(sold > 0 ? [because('sold without a majority', { sold })] : []),
          ...(requests > 0 ? [because('requests cut off', { requests })] : []),
          ...(slowestMs > limitMs ? [because('an answer took', { ms: slowestMs })] : []),
        ],
        ...(codes.length > 0 && {
          right: because('refused without a majority', { refused: refusals.length, ms, codes }),
        }),
        figures: { sent: ends.length, refused: refusals.length, limitMs, slowestMs },
      };
    },
  ),
  demand('sales come back within <time> of the majority', async (playing, _outcome, { time: limitMs }) => {
    if (playing.majority === undefined) return {};
    const { from, soldAt } = playing.majority.back;
    if (soldAt !== undefined) {
      const backMs = soldAt - from;
      return { right: because('sold after the majority', { ms: backMs }), figures: { backMs } };
    }
    await mustHaveHadTime(playing, limitMs);
    return { wrong: because('no sale after the majority', { limitMs }) };
  }),
];

/** Kills a server of the lock, until it comes back. Throws NotStagedError where a master still answers. */
async function kill({ faults, lock }: Playing, server: number) {
  const dead = await faults.killLockServer(server);
  if (lock.masterCount > 0 && (await faults.votes())[server] !== 'silent')
    throw new NotStagedError(`Master ${server + 1} answers after SIGKILL.`);
  return dead;
}

/** Waits for the first sale that begins after this. Resolves with how long it took, in milliseconds; undefined when there is none in time. */
async function untilSold({ record, sales }: Playing, since: { from: number; soldAt?: number }, limitMs: number) {
  const sold = () =>
    sales.all.flatMap(({ ended }) =>
      ended?.outcome === 'sold' && ended.sentAt > since.from ? [ended.sentAt + ended.ms] : [],
    );
  await record.until(() => sold().length > 0, limitMs);
  if (sold().length === 0) return undefined;
  since.soldAt = Math.min(...sold());
  return since.soldAt - since.from;
}
