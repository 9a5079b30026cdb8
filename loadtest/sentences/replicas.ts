// What is said of replicas of Redis: cut off, and promoted.

import { deed } from '../narration/faults.ts';
import { told } from '../narration/steps.ts';
import { needing, step } from './playing.ts';

export const replicaSteps = [
  needing(
    'links',
    'redis process',
    'replication',
  )('<number> all that Redis holds', async (playing, { number }) => {
    const wanted = number === 'a replica copies' ? 1 : 2;
    while (playing.replicas.length < wanted) playing.replicas.push(await playing.faults.startReplica());
    return told('replicas copied', { replicas: wanted });
  }),
  step('the line to <replica> is cut', async ({ mark, replicas }, { replica }) => {
    await replicas[placeOf(replica)]?.cutLine();
    mark(deed(replicas.length > 1 ? 'one replica cut off' : 'replication cut'));
    return replicas.length > 1
      ? told('replication to one cut', { replica: placeOf(replica) + 1 })
      : told('replication cut');
  }),
  step('<replica> hears of it', async ({ replicas }, { replica }) => {
    await replicas[placeOf(replica)]?.hearsAll();
    return told('replica caught up', { replica: placeOf(replica) + 1 });
  }),
  step('Redis is killed, and <replica> takes its place', async ({ faults, mark, replicas }, { replica }) => {
    await faults.killRedis();
    mark(deed('Redis killed'));
    await replicas[placeOf(replica)]?.promote();
    mark(deed('replica promoted'));
    return replicas.length > 1 ? told('failed over to one', { replica: placeOf(replica) + 1 }) : told('failed over');
  }),
];

/** Which replica is meant, from 0. */
const placeOf = (replica: string) => (replica === 'the second replica' ? 1 : 0);
