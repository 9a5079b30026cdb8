// Sentences about replicas of Redis: cut off, and promoted.

import { deed } from '../narration/faults.ts';
import { told } from '../narration/steps.ts';
import { needing, type Playing, step } from './playing.ts';

export const steps = [
  needing('replication')('a replica is in sync with Redis', (playing) => startReplicas(playing, 1)),
  needing(
    'links',
    'redis process',
    'replication',
  )('two replicas are in sync with Redis', (playing) => startReplicas(playing, 2)),
  step('replication to <replica> is cut', async ({ mark, replicas }, { replica }) => {
    await replicas[placeOf(replica)]?.cutLine();
    mark(deed(replicas.length > 1 ? 'one replica cut off' : 'replication cut'));
    return told('replication cut', numberIn(replicas, replica));
  }),
  step('<replica> receives it', async ({ replicas }, { replica }) => {
    await replicas[placeOf(replica)]?.hearsAll();
    return told('replica caught up', { replica: placeOf(replica) + 1 });
  }),
  step('Redis is killed, and <replica> is promoted', async ({ clock, faults, mark, replicas }, { replica }) => {
    const next = replicas[placeOf(replica)];
    const held = await next?.lockOfPrimary();
    await faults.killRedis();
    const killedAt = clock.now();
    mark(deed('Redis killed'));
    const electedAt = await next?.promote();
    mark(deed('replica promoted'));
    const forgot = held && !(await next?.knows(held)) ? held : undefined;
    return electedAt === undefined
      ? told('failed over', { ...numberIn(replicas, replica), forgot })
      : told('failed over by itself', { server: electedAt, ms: clock.now() - killedAt, forgot });
  }),
];

async function startReplicas({ replicas, faults }: Playing, wanted: number) {
  while (replicas.length < wanted) replicas.push(await faults.startReplica());
  return told('replicas copied', { replicas: wanted });
}

/** The number of the replica, from 1, if there are several. */
const numberIn = ({ length }: Playing['replicas'], replica: string) => ({
  replica: length > 1 ? placeOf(replica) + 1 : undefined,
});
/** Its index, from 0. */
const placeOf = (replica: string) => (replica === 'the second replica' ? 1 : 0);
