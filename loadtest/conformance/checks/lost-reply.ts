// A command of acquire() fails, and Redis is back at once: nobody is inside without the key, and nobody waits for a key of his own.

import { formatDuration } from '../../evidence/numbers.ts';
import type { LockUnderTest } from '../lock-under-test.ts';
import { Fault, holds, saidOf } from '../outcome.ts';
import { type Failure, failures, type Holder, LONG_LEASE_MS, type Staging } from '../staging.ts';

/** Whom nothing keeps out but a key of his own is inside, or has given up, by then, in milliseconds: long before the lease ends. */
const LIMIT_MS = LONG_LEASE_MS / 2;
const LATE_MS = 2_000;

export async function lostReply({ survey, promises, stage }: LockUnderTest) {
  for (const at of survey.acquire.keys()) for (const how of failures) await stage((staging) => fail(staging, at, how));
  if (promises.reentry) await stage(failAgain);
  if (promises.masters) await stage(voteLate);
  return holds(
    'Each command of acquire() failed once: nobody was inside without the key, or waited for one of his own.',
  );
}

async function fail(staging: Staging, at: number, how: Failure) {
  const { process, endOf, say } = staging;
  const [p, q] = [process(), process()];
  const [a, b] = [p.holder('A'), q.holder('B')];
  const held = p.hold(at);
  const asked = a.acquire();
  const what = await held.fail(how, 'the acquire() of A');
  const end = await endOf(asked, LIMIT_MS);
  say(`acquire() of A ${saidOf(end)}`);
  if (end.how === 'pending')
    throw new Fault(`${what}: A waited for ${formatDuration(LIMIT_MS)} for a key of its own, and was not inside.`);
  if (end.how === 'done' && !(await b.isKeptOut())) throw new Fault(`${what}: A counted as inside, and B entered.`);
  // Also when it has rejected: what it may have taken is given up.
  const left = await a.leaves();
  if (end.how === 'done' && left.how !== 'done')
    throw new Fault(`${what}: A counted as inside, and release() ${saidOf(left)}.`);
  await mustEnter(staging, b, what);
}

/** A holder acquires its own lock again, and the reply is lost: it counts once. */
async function failAgain(staging: Staging) {
  const { process, endOf, say } = staging;
  const [p, q] = [process(), process()];
  const [a, b] = [p.holder('A'), q.holder('B')];
  await a.enters();
  const held = p.hold();
  const asked = a.acquire();
  // It may count by itself, and ask nobody.
  if ((await held.comes()) === undefined) return;
  const what = await held.fail('reply', 'the second acquire() of A');
  const end = await endOf(asked, LIMIT_MS);
  say(`acquire() of A ${saidOf(end)}`);
  await a.leaves();
  if (end.how === 'done' && !(await b.isKeptOut()))
    throw new Fault(`${what}: A had acquired twice and released once, and B entered.`);
  await a.leaves();
  await mustEnter(staging, b, what);
}

/** Most votes are late: who does not wait for them gives them back. */
async function voteLate(staging: Staging) {
  const { process, endOf, say } = staging;
  const [p, q] = [process(), process()];
  const [a, b] = [p.holder('A'), q.holder('B')];
  for (const line of p.lines.slice(0, Math.ceil((p.lines.length + 1) / 2))) line.delayReplies(LATE_MS);
  const end = await endOf(a.acquire('once'), LIMIT_MS);
  say(`most votes are ${formatDuration(LATE_MS)} late; acquire() of A ${saidOf(end)}`);
  if (end.how === 'done') await a.leaves();
  await mustEnter(staging, b, 'Votes came late, and A did not wait for them');
}

async function mustEnter({ endOf, say }: Staging, heir: Holder, what: string) {
  const end = await endOf(heir.acquire(), LIMIT_MS);
  say(`acquire() of ${heir.name} ${saidOf(end)}`);
  if (end.how === 'done') return;
  const times = `${formatDuration(LIMIT_MS)} later, under a lease of ${formatDuration(LONG_LEASE_MS)}`;
  throw new Fault(`${what}: afterwards the lock was not free; ${times}, acquire() of ${heir.name} ${saidOf(end)}.`);
}
