// What the lock does when nobody is in its way: from here on Redis knows its scripts, and the checks know its commands.

import { setTimeout as sleep } from 'node:timers/promises';
import { NotStagedError } from '../../evidence/not-staged.ts';
import { type Bed, LONG_LEASE_MS, type Survey, type Trial } from './bed.ts';
import type { LockClient } from './lock-node.ts';
import { endOf, saidOf } from './outcome.ts';

/** How long a step may take that has nothing to wait for, in milliseconds. */
const LIMIT_MS = 5_000;
/** What nobody awaits comes a moment later, in milliseconds. */
const TRAILING_MS = 30;
/** Twice, since Redis learns a script at its first use. */
const ROUNDS = 2;

/** Before the survey. */
export const noSurvey: Survey = { acquire: [], release: [], hasLost: false, hasToken: false };

/** Rejects with NotStagedError when the lock can't be entered and released. */
export async function surveyLock(setting: {
  bed: (survey: Survey) => Bed & { close(): Promise<void> };
}): Promise<Survey> {
  const bed = setting.bed(noSurvey);
  try {
    const trial = bed.trial();
    const client = await trial.client(0);
    let survey = noSurvey;
    for (let round = 0; round < ROUNDS; round += 1) survey = await goThrough(trial, client);
    return survey;
  } finally {
    await bed.close();
  }
}

async function goThrough(trial: Trial, client: LockClient): Promise<Survey> {
  const lock = await client.make({ key: trial.key, leaseMs: LONG_LEASE_MS });
  const commandsOf = async (call: () => Promise<void>, name: string) => {
    const from = client.seen.length;
    const end = await endOf(call(), LIMIT_MS);
    if (end.how !== 'done') throw new NotStagedError(`${name} ${saidOf(end)}.`);
    await sleep(TRAILING_MS);
    return client.seen.slice(from).flatMap(({ link, command }) => (link === 0 ? [command] : []));
  };
  const acquire = await commandsOf(() => lock.acquire(), 'acquire()');
  const { hasLost, token } = await lock.look();
  const release = await commandsOf(() => lock.release(), 'release()');
  const isNamed = [...acquire, ...release].some(({ args }) => args.some((arg) => arg.includes(trial.key)));
  return {
    acquire,
    release,
    hasLost,
    hasToken: token !== undefined,
    ...(!isNamed && { isElsewhere: 'no command of the lock names the key that it is given.' }),
  };
}
