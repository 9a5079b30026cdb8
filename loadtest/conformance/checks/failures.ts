// A command of the lock fails, and Redis is back at once; or Redis has forgotten its scripts.

import { formatDuration } from '../../narration/numbers.ts';
import { type Failure, failures } from '../held.ts';
import type { Holder } from '../holder.ts';
import { type End, Fault, holds, isNotHeld, STEP_LIMIT_MS, type Story, saidOf } from '../outcome.ts';
import { LEASE_MS, LONG_LEASE_MS, type LockUnderTest, type Staging } from '../staging.ts';
import { TAKEOVER_LEASES } from './death.ts';

/** Whom nothing keeps out but a key of his own is inside, or has given up, by then, in milliseconds: long before the lease ends. */
export const LIMIT_MS = LONG_LEASE_MS / 2;
/** What is said before the end of an acquire() that nothing keeps out. */
export const NOT_FREE = `: afterwards the lock was not free; ${formatDuration(LIMIT_MS)} later, under a lease of ${formatDuration(LONG_LEASE_MS)},`;

export async function lostReply({ survey, promises, stage }: LockUnderTest) {
  for (const at of survey.acquire.keys()) for (const how of failures) await stage((staging) => fail(staging, at, how));
  if (promises.reentry) await stage(failAgain);
  return holds(
    'Each command of acquire() failed once: nobody was inside without the key, or waited for one of his own.',
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

/** So ended the acquire() of a holder: who counts as inside is alone, and who does not has given up what it had taken. */
export async function judge({ how }: End, holder: Holder, rival: Holder, what: string) {
  if (how === 'pending')
    throw new Fault(
      `${what}: ${holder.name} waited ${formatDuration(LIMIT_MS)} for a key of its own, and was not inside.`,
    );
  const inside = `${what}: ${holder.name} counted as inside, and`;
  if (how === 'done') await rival.mustStayOut(`${inside} ${rival.name} entered.`);
  if (how === 'done') await holder.mustLeave(inside);
  else await holder.leaves();
  await rival.mustEnter(`${what}${NOT_FREE}`, LIMIT_MS);
}

/** A holder acquires its own lock again, and the reply is lost: it counts once. */
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
      await b.mustStayOut(`B entered ${LATER}, and A was still inside.`);
      await a.mustLeave(`${LATER},`);
    });
  }
}

/** The process has passed the lock on to its own waiters for so long that it gives other processes a turn, in leases. */
const TENURE_LEASES = 0.25;
/** A timer of the holder may be so late, in milliseconds. */
const SLACK_MS = 5;

interface Late {
  /** Redis gets nothing meanwhile, or else all of it, and each reply is late. */
  how: 'silent' | 'slow';
  lateMs: number;
  said: string;
}

/** Later than the lease that A has, or later than A knows of, and in time for what its release has renewed. */
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

/** A command of release() fails, and Redis is back at once: the next hold of the process goes as any other. */
export async function failedRelease({ survey, stage }: LockUnderTest) {
  const tells = survey.renewal.length > 0 && (survey.hasLost || survey.callsOnLeaseLost);
  for (const late of lates) await stage((staging) => lateRelease(staging, late, tells));
  for (const at of survey.release.keys()) for (const how of failures) await failRelease(at, how);
  return holds('A release failed: the next hold of its process went as any other.');

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
      await next.mustEnter('A release had failed, and then', TAKEOVER_LEASES * LEASE_MS);
      if (survey.renewal.length > 0) {
        await story.pass(LEASES * LEASE_MS);
        await b.mustStayOut(
          `A release had failed, and the next hold of its process was not renewed: B entered after ${formatDuration(LEASES * LEASE_MS)}.`,
        );
      }
      await next.mustLeave('A release had failed, and after the next hold');
      await b.mustEnter('A release had failed. Later C had released, and');
    });
  }
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

/** The server forgets its scripts, then everything else: the lock works on. */
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
      await b.mustStayOut(`${AFTER} no lease was renewed: B entered.`);
    }
    const waiting = b.acquire();
    await story.pass(LEASE_MS / 4);
    servers.flush('SCRIPT');
    await a.mustLeave(AFTER);
    await b.mustEnter(AFTER, STEP_LIMIT_MS, waiting);
    await b.mustLeave(AFTER);
    servers.flush('ALL');
    await c.mustEnter('When the server had started again empty');
    await c.mustLeave('When the server had started again empty');
    return holds('It works on when the server has forgotten its scripts.');
  });
