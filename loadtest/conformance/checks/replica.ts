// A lock that waits for a replica: acquire() resolves only when the replica has confirmed the lock, and an unconfirmed lock is released.

import { formatDuration } from '../../narration/numbers.ts';
import type { Holder } from '../holder.ts';
import { type End, Fault, holds } from '../outcome.ts';
import { LEASE_MS, LONG_LEASE_MS, type LockUnderTest, type Staging } from '../staging.ts';
import { judge, LIMIT_MS, NOT_FREE } from './failures.ts';

/** How long A waits before its client goes, and how soon acquire() must end after that, in milliseconds. */
const WAIT_MS = 50;
const SOON_MS = 500;
/** Two messages that are each so late take longer than the lease together, as a part of it. */
const LATE = 0.6;
const CUT = 'Replication was cut';

export async function replica({ survey, promises, stage }: LockUnderTest) {
  await stage(unconfirmed);
  await stage(clientGoes);
  if (promises.reentry) await stage(nested);
  await stage(confirmedTooLate);
  await stage((staging) => everyCommandLate(staging, survey.acquire.length));
  return holds('acquire() resolved only when a replica had confirmed the lock. Every unconfirmed lock was released.');
}

/** No replica confirms the lock of A. When acquire() has not rejected, replication resumes. */
async function unconfirmed({ two, story, replicas }: Staging) {
  const { a, b } = two();
  replicas.fallBehind();
  const asked = a.acquire();
  const early = await story.ends('acquire() of A', asked, LIMIT_MS);
  mustNotHaveEntered(early);
  replicas.catchUp();
  if (early.how === 'pending')
    return judge(await story.ends('acquire() of A', asked, LIMIT_MS), a, b, `${CUT} and resumed`);
  await mustBeFree(b);
}

/** The client of A goes while A waits for the replica. */
async function clientGoes({ two, story, replicas }: Staging) {
  const { a, b } = two();
  replicas.fallBehind();
  const asked = a.acquire();
  await story.pass(WAIT_MS);
  a.abort();
  story.say('the client of A goes');
  const end = await story.ends('acquire() of A', asked, SOON_MS);
  mustNotHaveEntered(end);
  if (end.how === 'pending')
    throw new Fault(`${CUT}, the client of A went, and acquire() had not ended ${SOON_MS} ms later.`);
  replicas.catchUp();
  await mustBeFree(b);
}

/** A that was refused releases nothing. */
const mustBeFree = (b: Holder) => b.mustEnter(`${CUT}, and A did not enter${NOT_FREE}`, LIMIT_MS);

function mustNotHaveEntered({ how }: End) {
  if (how === 'done') throw new Fault(`${CUT}, and acquire() of A resolved: a failover would forget the lock of A.`);
}

/** The holder acquires its lock again, which no replica confirms. It holds until it has released as often as acquire() resolved. */
async function nested({ two, story, replicas }: Staging) {
  const { a, b } = two();
  await a.enters();
  replicas.fallBehind();
  const again = await story.ends('the second acquire() of A', a.acquire(), LIMIT_MS);
  replicas.catchUp();
  if (again.how === 'pending') return a.abort();
  const so = `${CUT}, and the second acquire() of A ${again.how === 'done' ? 'resolved' : 'rejected'}`;
  await b.mustStayOut(`${so}: B entered while A was inside.`);
  if (again.how === 'done') {
    await a.mustLeave(`${so}:`);
    await b.mustStayOut(`${so}: A had released once, and B entered.`);
  }
  await a.mustLeave(`${so}:`);
  await b.mustEnter(`${so}. A had released as often as it had acquired${NOT_FREE}`, LIMIT_MS);
}

/** Each reply is in time, and both together are not: the lease is over when the confirmation comes. */
async function confirmedTooLate({ two, story }: Staging) {
  const { p, a, b } = two(LEASE_MS, LONG_LEASE_MS);
  p.delayReplies(LATE * LEASE_MS);
  story.say(`every reply to A is ${formatDuration(LATE * LEASE_MS)} late`);
  const asked = a.acquire();
  await story.pass(LEASE_MS);
  const entered = await story.endOf(b.acquire(), LEASE_MS);
  if (entered.how !== 'done') return;
  story.say('the lease of A is over, B enters');
  const late = await story.ends('acquire() of A', asked, LEASE_MS);
  if (late.how === 'done' && !a.isLost())
    throw new Fault('The confirmation came when the lease of A was over. A entered while B was inside.');
}

/** Each command reaches Redis late: by the clock of the holder the lease is over, and in Redis it is not. One release frees the lock. */
async function everyCommandLate({ two, story }: Staging, commands: number) {
  const { p, a, b } = two();
  let held = p.hold();
  const asked = a.acquire();
  for (let left = commands; left > 0; left -= 1) {
    const { name } = await held.mustCome(LONG_LEASE_MS);
    await story.pass(LATE * LONG_LEASE_MS);
    story.say(`the ${name} of A reaches Redis ${formatDuration(LATE * LONG_LEASE_MS)} late`);
    const { letGo } = held;
    if (left > 1) held = p.hold();
    letGo();
  }
  const end = await story.ends('acquire() of A', asked, LIMIT_MS);
  await isFreeAfter(end, a, b);
}

async function isFreeAfter({ how }: End, a: Holder, b: Holder) {
  const so = 'Each command of the acquire() of A was late';
  if (how === 'pending') throw new Fault(`${so}: A waited ${formatDuration(LIMIT_MS)} for a key of its own.`);
  if (how === 'done') await b.mustStayOut(`${so}: A was inside, and B entered.`);
  if (how === 'done') await a.mustLeave(`${so}:`);
  await b.mustEnter(`${so}${NOT_FREE}`, LIMIT_MS);
}
