// Each command of acquire() is late: it reaches Redis past the lease, when another holder is inside.

import { setTimeout as sleep } from 'node:timers/promises';
import { NotStagedError } from '../../../evidence/not-staged.ts';
import { type Bed, LEASE_MS, STEP_LIMIT_MS } from '../bed.ts';
import { endOf, fails, holds, saidOf } from '../outcome.ts';

/** How long the late one is watched while another is inside, in milliseconds. */
const LATE_LOOK_MS = 300;

export async function lateAcquire(bed: Bed) {
  const { survey, promises } = bed;
  if (promises.fencing && !survey.hasToken) return fails('It promises fencing, and its locks have no fencingToken.');
  const outcomes = await Promise.all(survey.acquire.map((_, at) => hold(bed, at)));
  const tokens = survey.hasToken ? ', and the tokens are in the order of the holds' : '';
  return (
    outcomes.find((outcome) => outcome !== undefined) ??
    holds(`${survey.acquire.length} held past the lease: the late one did not enter while another was inside${tokens}.`)
  );
}

async function hold(bed: Bed, at: number) {
  const trial = bed.trial();
  const [a, b] = [await trial.holder(0, LEASE_MS), await trial.holder(1)];
  const held = a.client.hold(at);
  const asked = a.acquire();
  if ((await endOf(held.arrived, STEP_LIMIT_MS)).how !== 'done') {
    throw new NotStagedError(`Command ${at + 1} of acquire() did not come.`);
  }
  const { name } = await held.arrived;
  trial.say(`A asks, and its ${name} is held on its way`);
  await sleep(1.25 * LEASE_MS);
  const entered = b.acquire();
  if ((await endOf(entered, 2 * LEASE_MS)).how !== 'done') {
    await b.abort();
    held.drop();
    if (at === 0) throw new NotStagedError('B did not enter a free lock.');
    // What A has taken by then has no end: contract-crash judges it.
    return undefined;
  }
  trial.say('the lease is over, B enters');
  await held.letGo();
  const late = await endOf(asked, LATE_LOOK_MS);
  trial.say(`the ${name} reaches Redis; acquire() of A ${saidOf(late)}`);
  if (late.how === 'done' && !(await a.look()).isLost) {
    const tokens = await tokensOf(a, b);
    return fails(`The ${name} of A came past its lease, and A entered while B was inside${tokens}.`, trial.steps);
  }
  const { token: tokenOfB } = await b.look();
  const { token: lateToken } = late.how === 'done' ? await a.look() : {};
  await endOf(b.release(), STEP_LIMIT_MS);
  trial.say('B releases');
  if (lateToken !== undefined && tokenOfB !== undefined && BigInt(lateToken) > BigInt(tokenOfB)) {
    const said = `A had lost its lock when its ${name} came, and its token is ${lateToken}, while that of B is ${tokenOfB}`;
    return fails(`${said}: the writes of A pass for the newer ones.`, trial.steps);
  }
  if (late.how !== 'pending') return undefined;
  const next = await endOf(asked, STEP_LIMIT_MS);
  trial.say(`acquire() of A ${saidOf(next)}`);
  if (next.how !== 'done') return undefined;
  const { token: tokenOfA } = await a.look();
  await endOf(a.release(), STEP_LIMIT_MS);
  if (tokenOfA === undefined || tokenOfB === undefined || BigInt(tokenOfA) > BigInt(tokenOfB)) return undefined;
  return fails(`A entered after B, and its token is ${tokenOfA}, while that of B was ${tokenOfB}.`, trial.steps);
}

async function tokensOf(...locks: { look(): Promise<{ token?: string }> }[]) {
  const [a, b] = await Promise.all(locks.map((lock) => lock.look()));
  return a?.token === undefined || b?.token === undefined
    ? ''
    : `: the token of A is ${a.token}, that of B is ${b.token}`;
}
