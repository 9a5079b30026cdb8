// Fails a command of the lock while Redis is back at once; or makes Redis lose its scripts.

import { formatDuration } from '../../narration/numbers.ts';
import { type Failure, failures } from '../held.ts';
import type { Holder } from '../holder.ts';
import { type End, Fault, holds, isNotHeld, STEP_LIMIT_MS, type Story, saidOf } from '../outcome.ts';
import { LEASE_MS, LONG_LEASE_MS, type LockUnderTest, type Staging } from '../staging.ts';
import { TAKEOVER_LEASES } from './death.ts';

/** By when a caller that only its own key could keep out must have entered or given up, in milliseconds: long before the lease ends. */
export const LIMIT_MS = LONG_LEASE_MS / 2;
/** The start of the sentence for an acquire() that does not end although nothing keeps it out. */
export const NOT_FREE = `, and then the lock was not free: ${formatDuration(LIMIT_MS)} later, under a lease of ${formatDuration(LONG_LEASE_MS)},`;

export async function lostReply({ survey, promises, stage }: LockUnderTest) {
  for (const at of survey.acquire.keys()) for (const how of failures) await stage((staging) => fail(staging, at, how));
  if (promises.reentry) await stage(failAgain);
  return holds(
    'Each command of acquire() failed once: nobody entered without the key, and nobody waited for its own key.',
  );
}

async function fail({ two, story }: Staging, at: number, how: Failure) {
  const { p, a, b } = two();
  const held = p.hold(at);
  const asked = a.acquire();
  const what = await held.fail(how, 'the acquire() of A');
  const end = await story.ends('acquire() of A', asked, LIMIT_MS);
  await judge(end, a, b, what);
}

/** Judges the end of an acquire(): a holder that entered must be alone, and one that did not must have given back what it took. */
export async function judge({ how }: End, holder: Holder, rival: Holder, what: string) {
  if (how === 'pending')
    throw new Fault(`${what}: ${holder.name} waited ${formatDuration(LIMIT_MS)} for its own key and did not enter.`);
  const inside = `${what}: ${holder.name} believed that it held the lock, and`;
  if (how === 'done') await rival.mustStayOut(`${inside} ${rival.name} entered.`);
  if (how === 'done') await holder.mustLeave(inside);
  else await holder.leaves();
  await rival.mustEnter(`${what}${NOT_FREE}`, LIMIT_MS);
}

/** A holder acquires its own lock again, and the reply is lost: the hold must count once. */
async function failAgain({ two, story }: Staging) {
  const { p, a, b } = two();
  await a.enters();
  const held = p.hold();
  const asked = a.acquire();
  // It may count by itself, and ask nobody.
  if ((await held.comes()) === undefined) return;
  const what = await held.fail('reply', 'the second acquire() of A');
  const end = await story.ends('acquire() of A', asked, LIMIT_MS);
  await a.leaves();
  if (end.how === 'done') await b.mustStayOut(`${what}: A had acquired twice and released once, and B entered.`);
  await a.leaves();
  await b.mustEnter(`${what}${NOT_FREE}`, LIMIT_MS);
}

const LEASES = 3;
const LATER = `${formatDuration(LEASES * LEASE_MS)} after one renewal had failed`;

/** Each command of it fails in turn, in each way. */
export async function redisBack({ survey, stage }: LockUnderTest) {
  for (const at of survey.renewal.keys()) for (const how of failures) await failRenewal(at, how);
  return holds(`The lock was still held ${LATER}.`);

  function failRenewal(at: number, how: Failure) {
    return stage(async ({ two, story }) => {
      const { p, a, b } = two(LEASE_MS);
      await a.enters();
      await p.hold(at).fail(how, 'the renewal of A');
      await story.pass(LEASES * LEASE_MS);
      if (a.isLost()) throw new Fault(`\`lost\` had aborted ${LATER}, although Redis was back at once.`);
      await b.mustStayOut(`B entered ${LATER}, while A was still inside.`);
      await a.mustLeave(`${LATER},`);
    });
  }
}

/** How long a process passes the lock on to its own waiters before it gives other processes a turn, in leases. */
const TENURE_LEASES = 0.25;
/** How late a timer of the holder may be, in milliseconds. */
const SLACK_MS = 5;

interface Late {
  /** `silent`: nothing reaches Redis. `slow`: everything does, and each reply is late. */
  how: 'silent' | 'slow';
  lateMs: number;
  said: string;
}

/** Later than the lease of A; or later than A knows of, but in time for the lease that its release has renewed. */
const lates: Late[] = [
  {
    how: 'silent',
    lateMs: 2 * LEASE_MS,
    said: `Redis did not answer the release of A for ${formatDuration(2 * LEASE_MS)}`,
  },
  {
    how: 'slow',
    lateMs: 0.9 * LEASE_MS,
    said: `The reply to the release of A was ${formatDuration(0.9 * LEASE_MS)} late`,
  },
];

/** A command of release() fails, and Redis is back at once: the next hold of the process must work as any other. */
export async function failedRelease({ survey, promises, stage }: LockUnderTest) {
  const tells = survey.renewal.length > 0 && (survey.hasLost || survey.callsOnLeaseLost);
  for (const late of lates) await stage((staging) => lateRelease(staging, late, tells));
  for (const at of survey.release.keys()) {
    for (const how of failures) await failRelease(at, how);
    if (promises.releaseRetry) for (const how of failures) await stage((staging) => retryRelease(staging, at, how));
  }
  return holds(
    promises.releaseRetry
      ? 'After a failed release, the next hold of its process worked as any other, and a retry freed the lock.'
      : 'After a failed release, the next hold of its process worked as any other.',
  );

  function failRelease(at: number, how: Failure) {
    return stage(async ({ two, story }) => {
      const { p, a, b } = two(LEASE_MS);
      const next = p.holder('C, in the process of A,', LEASE_MS);
      await a.enters();
      const held = p.hold(at);
      const releasing = a.release();
      await held.fail(how, 'the release of A');
      const end = await story.ends('release() of A', releasing);
      if (end.how === 'pending') throw new Fault('A command of release() failed, and release() did not settle.');
      await next.mustEnter('After a release had failed,', TAKEOVER_LEASES * LEASE_MS);
      if (survey.renewal.length > 0) {
        await story.pass(LEASES * LEASE_MS);
        await b.mustStayOut(
          `After a release had failed, the next hold of its process was not renewed: B entered after ${formatDuration(LEASES * LEASE_MS)}.`,
        );
      }
      await next.mustLeave('After a release had failed, in the next hold');
      await b.mustEnter('A release had failed. After C had released,');
    });
  }
}

/** A command of release() fails, and release() is called again long before the lease ends. */
async function retryRelease({ two, story }: Staging, at: number, how: Failure) {
  const { p, a, b } = two();
  await a.enters();
  const held = p.hold(at);
  const releasing = a.release();
  const what = await held.fail(how, 'the release of A');
  await story.ends('release() of A', releasing);
  await a.leaves();
  await b.mustEnter(`${what}. A called release() again${NOT_FREE}`, LIMIT_MS);
}

/** Another of its process waits when A releases, and Redis does not answer in time. It enters when Redis answers. */
async function lateRelease({ two, story }: Staging, { how, lateMs, said }: Late, tells: boolean) {
  const { p, a, b } = two(LEASE_MS);
  const next = p.holder('C, in the process of A,', LEASE_MS);
  await a.enters();
  await story.pass(TENURE_LEASES * LEASE_MS);
  const asked = next.acquire();
  await story.pass(TENURE_LEASES * LEASE_MS);
  if (how === 'silent') p.cut();
  else p.delayReplies(lateMs);
  const releasing = a.release();
  story.say(said);
  await story.pass(lateMs);
  if (how === 'silent') p.restore();
  // What C has asked meanwhile is answered as late.
  else await story.pass(lateMs).then(() => p.delayReplies(0));
  const end = await story.ends('release() of A', releasing);
  if (end.how === 'pending') throw new Fault(`${said}, and release() had not settled when it did.`);
  const entered = await story.ends(`acquire() of ${next.name}`, asked, TAKEOVER_LEASES * LEASE_MS);
  if (entered.how === 'pending') throw new Fault(`${said}. Then ${next.name} did not enter.`);
  if (entered.how === 'done') {
    if (tells) await isAloneOrTold(story, next, b, said);
    const left = await next.leaves();
    // Its own reply may have been as late, and its lease over.
    if (left.how !== 'done' && !isNotHeld(left))
      throw new Fault(`${said}. Then ${next.name} entered, and its release() ${saidOf(left)}.`);
  }
  await b.mustEnter(`${said}. Later ${next.name} had released, and`, TAKEOVER_LEASES * LEASE_MS);
}

/** A holder is inside for a lease and is alone, or it learns within another lease that it is not. */
async function isAloneOrTold(story: Story, holder: Holder, rival: Holder, said: string) {
  await story.pass(LEASE_MS);
  if (await rival.isKeptOut()) return;
  await story.pass(LEASE_MS + SLACK_MS);
  if (!holder.isLost() && holder.losses.length === 0)
    throw new Fault(
      `${said}. Then ${holder.name} was inside, ${rival.name} entered, and ${holder.name} was not told that it had lost the lock.`,
    );
}

const AFTER = 'After SCRIPT FLUSH';

/** The server loses its scripts, then everything else: the lock must still work. */
export const scriptFlush = ({ survey, stage }: LockUnderTest) =>
  stage(async ({ two, story, servers }) => {
    const { q, a, b } = two(LEASE_MS);
    const c = q.holder('C', LEASE_MS);
    servers.flush('SCRIPT');
    await a.mustEnter(AFTER);
    if (survey.renewal.length > 0) {
      // It has renewed once by now.
      await story.pass(LEASE_MS / 2);
      servers.flush('SCRIPT');
      await story.pass(2 * LEASE_MS);
      await b.mustStayOut(`${AFTER} the lease was not renewed: B entered.`);
    }
    const waiting = b.acquire();
    await story.pass(LEASE_MS / 4);
    servers.flush('SCRIPT');
    await a.mustLeave(AFTER);
    await b.mustEnter(AFTER, STEP_LIMIT_MS, waiting);
    await b.mustLeave(AFTER);
    servers.flush('ALL');
    await c.mustEnter('After an empty restart of the server,');
    await c.mustLeave('After an empty restart of the server,');
    return holds('It still works after the server has lost its scripts.');
  });
