// Sentences about the death of a lock's servers, first a minority, then a majority: steps and demands.

import { NotStagedError } from '../evidence/not-staged.ts';
import { deed } from '../narration/faults.ts';
import { because } from '../narration/reasons.ts';
import { told } from '../narration/steps.ts';
import { mustHaveHadTime } from './demands.ts';
import { quorumOf } from './masters.ts';
import { breaks, demand, type LockOutage, mend, needing, type Playing, step } from './playing.ts';

const killing = needing('lock servers');
const [MINORITY, ONE_MORE] = ['a minority of the servers', 'one more server'];

export const steps = [
  killing('a minority of the servers of the lock is killed (SIGKILL)', async (playing) => {
    const servers = playing.faults.lockServers;
    const killed = servers - quorumOf(servers);
    if (killed === 0) return told('no minority');
    // The last of them leads the others of a ZooKeeper, more often than not.
    const last = Array.from({ length: killed }, (_, index) => servers - 1 - index);
    await kill(playing, MINORITY, last, killed);
    const at = playing.clock.now();
    playing.lockOutages.push({ killed, isMajority: false, from: at, until: at, backAt: at });
    return told('minority killed', { killed, servers });
  }),
  step('sales resume, or not within <limit>', async ({ lockOutages, record, sales }, { limit }) => {
    const outage = lockOutages.at(-1);
    if (outage === undefined) return told('no server missing');
    if (outage.soldMs !== undefined) return told('shop closed');
    const soldMs = () =>
      Math.min(
        ...sales.all.map(({ ended }) => {
          const isSold = ended?.outcome === 'sold' && ended.sentAt > outage.backAt;
          return isSold ? ended.sentAt + ended.ms - outage.backAt : Number.POSITIVE_INFINITY;
        }),
      );
    await record.until(() => Number.isFinite(soldMs()), limit);
    outage.soldMs = soldMs();
    return Number.isFinite(outage.soldMs)
      ? told('sales went on', { ms: outage.soldMs })
      : told('sales did not go on', { ms: limit });
  }),
  killing('one more of them is killed (SIGKILL), and all restart after <time>', async (playing, { time }) => {
    const { clock, faults, lockOutages } = playing;
    const [minority] = lockOutages;
    // A shop that does not sell shows nothing of a second outage.
    if (minority && !sellsIn(minority)) return told('shop closed');
    const servers = faults.lockServers;
    const killed = (minority?.killed ?? 0) + 1;
    await kill(playing, ONE_MORE, [servers - killed], killed);
    const from = clock.now();
    await playing.say(told('majority killed', { killed, servers }));
    await clock.sleep(time);
    const until = clock.now();
    await mend(playing, ONE_MORE);
    lockOutages.push({ killed, isMajority: true, from, until, backAt: clock.now() });
    await mend(playing, MINORITY);
    return told('lock servers started again', { servers: killed, ms: until - from });
  }),
];

export const demands = [
  demand('sales resume within <time> while a majority of the servers is up', async (playing, _outcome, { time }) => {
    const minority = outageOf(playing, false);
    if (minority === undefined) return { right: because('single point of failure', {}) };
    const { killed, soldMs: ms = 0 } = minority;
    if (sellsIn(minority)) return { right: because('sold without a minority', { killed, ms }) };
    await mustHaveHadTime(playing, time);
    return { wrong: because('nothing sold without a minority', { killed, limitMs: time }) };
  }),
  demand(
    'nothing is sold without a majority, and each buyer gets a definite response within <time>',
    async (playing, { ends }, { time: limitMs }) => {
      const majority = outageOf(playing, true);
      if (majority === undefined) return {};
      const { from, until } = majority;
      const asked = ends.filter(({ sentAt, ms }) => sentAt < until && sentAt + ms > from);
      if (asked.length === 0)
        throw new NotStagedError('No sale asked for the lock while no majority of the servers was up.');
      const isServed = ({ outcome, sentAt, ms }: (typeof ends)[number]) =>
        outcome === 'sold' && sentAt > from && sentAt + ms < until;
      const sold = asked.filter(isServed).length;
      const slowestMs = Math.max(...ends.map(({ ms }) => ms));
      const requests = ends.filter(({ outcome }) => outcome === 'cutOff' || outcome === 'nonsense').length;
      await mustHaveHadTime(playing, slowestMs - limitMs);
      // Whoever was inside when the servers died may have sold.
      const refusals = asked.flatMap((end) => ('code' in end && end.sentAt > from ? [end] : []));
      const codes = [...new Set(refusals.map(({ code }) => code))].sort();
      const ms = Math.max(...refusals.map((end) => end.ms));
      return {
        wrong: [
          ...(sold > 0 ? [because('sold without a majority', { sold })] : []),
          ...(requests > 0 ? [because('requests cut off', { requests })] : []),
          ...(slowestMs > limitMs ? [because('an answer took', { ms: slowestMs, limitMs })] : []),
        ],
        ...(codes.length > 0 && {
          right: because('refused without a majority', { refused: refusals.length, ms, codes }),
        }),
        figures: { sent: ends.length, refused: refusals.length, limitMs, slowestMs },
      };
    },
  ),
  demand('sales resume within <time> after the majority is back', async (playing, _outcome, { time: limitMs }) => {
    const majority = outageOf(playing, true);
    if (majority === undefined) return {};
    const { soldMs: backMs = 0 } = majority;
    if (sellsIn(majority)) return { right: because('sold after the majority', { ms: backMs }), figures: { backMs } };
    await mustHaveHadTime(playing, limitMs);
    return { wrong: because('no sale after the majority', { limitMs }) };
  }),
];

const outageOf = ({ lockOutages }: Playing, ofMajority: boolean) =>
  lockOutages.find(({ isMajority }) => isMajority === ofMajority);

const sellsIn = ({ soldMs }: LockOutage) => Number.isFinite(soldMs);

/** Kills servers of the lock until they are restored by this name. Throws NotStagedError when a master still responds. */
async function kill(playing: Playing, name: string, servers: number[], killed: number) {
  const { faults, lock } = playing;
  const dead = await Promise.all(servers.map(faults.killLockServer));
  const votes = lock.masterCount > 0 ? await faults.votes() : [];
  const alive = servers.find((server) => votes[server] !== undefined && votes[server] !== 'silent');
  if (alive !== undefined) throw new NotStagedError(`Master ${alive + 1} still responds after SIGKILL.`);
  breaks(playing, name, deed('lock servers killed', { killed }), undefined, () =>
    Promise.all(dead.map(({ comeBack }) => comeBack())),
  );
}
