// A command of acquire() fails, and Redis is back at once: nobody is inside without the key, and nobody waits for a key of his own.

import { formatDuration } from '../../narration/numbers.ts';
import { type Failure, failures } from '../held.ts';
import type { Holder } from '../holder.ts';
import type { LockUnderTest } from '../lock-under-test.ts';
import { type End, Fault, holds } from '../outcome.ts';
import { LONG_LEASE_MS, type Staging } from '../staging.ts';

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
