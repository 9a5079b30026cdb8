// Leases: held, renewed, lost and released, and the holder knows.

import { NotStagedError } from '../../evidence/not-staged.ts';
import { countOf, formatDuration, listOf } from '../../narration/numbers.ts';
import type { Holder } from '../holder.ts';
import { doesNotApply, type End, Fault, holds, isNotHeld, STEP_LIMIT_MS, saidOf } from '../outcome.ts';
import { LEASE_MS, LONG_LEASE_MS, type LockUnderTest, type Staging, type Survey } from '../staging.ts';

const LEASES = 20;
/** How long it takes until a holder learns of the end of its lease, in milliseconds: a command and its reply. */
const SLACK_MS = 5;
/** By when a lock that renews each third of its lease has two renewals on the way, in leases. */
const STUCK_LEASES = 0.8;

/** Holds the lock for many leases: if it renews, nobody else may enter. */
export const longHold = ({ stage, promises }: LockUnderTest) =>
  stage(async ({ two, story }) => {
    const { p, a, b } = two(LEASE_MS);
    await a.enters();
    const from = story.now();
    const entered = await story.endOf(b.acquire(), LEASES * LEASE_MS);
    if (entered.how === 'done') {
      story.say('B enters');
      const renewals = p.sentSince(from).length;
      const after = `B entered ${formatDuration(entered.ms)} after A, which was still inside, with a lease of ${LEASE_MS} ms`;
      if (renewals === 0 && !promises.renewal) return doesNotApply(`It does not renew its lease: ${after}.`);
      throw new Fault(`${after}, although A sent ${countOf(renewals, 'command')} meanwhile.`);
    }
    if (entered.how === 'rejected')
      throw new Fault(`A waiter gave up while A was inside: acquire() ${saidOf(entered)}.`);
    b.abort();
    await a.mustLeave(`After ${LEASES} leases`);
    return holds(`Held for ${LEASES} leases: nobody else entered.`);
  });

/**
 * The holder must be told of its loss within a lease: by `lost`, when the key is gone or Redis does not reply, and by `onLeaseLost`, when
 * a renewal finds the key gone or `lost` has aborted.
 */
export async function lost({ survey, stage }: LockUnderTest) {
  const told = [survey.hasLost && '`lost` aborted', survey.callsOnLeaseLost && '`onLeaseLost` was called'];
  const how = listOf(told.filter((each) => each !== false));
  const takenMs = await stage(async (staging) => {
    const { a, b } = staging.two(LEASE_MS, LONG_LEASE_MS);
    await a.enters();
    const since = staging.story.now();
    staging.servers.endLease();
    await b.enters();
    return untilTold(staging, survey, a, since, 'its key was deleted and taken by another');
  });
  if (survey.callsOnLeaseLost) await stage((staging) => renewalsMeet(staging, survey));
  if (survey.callsOnLeaseLost) await stage(releasesWhenTold);
  const taken = `${how} ${formatDuration(takenMs)} after the key was deleted`;
  if (!survey.hasLost) return holds(`${taken}.`, { takenMs });
  await stage(looksAtLast);
  const cutMs = await stage(async (staging) => {
    const p = staging.process();
    const a = p.holder('A', LEASE_MS);
    await a.enters();
    p.cut();
    staging.story.say('the connection of A is cut');
    return untilTold(staging, survey, a, staging.story.now(), 'its connection to Redis was cut');
  });
  return holds(`${taken}, and ${formatDuration(cutMs)} after the connection was cut.`, { takenMs, cutMs });
}

/** Several renewals are on the way when the key is taken: each of them finds the loss, but the holder must be told once. */
async function renewalsMeet(staging: Staging, survey: Survey) {
  const { story, servers, two } = staging;
  const { p, a, b } = two(LEASE_MS, LONG_LEASE_MS);
  await a.enters();
  p.cut();
  await story.pass(STUCK_LEASES * LEASE_MS);
  story.say('the renewals of A are held on the way');
  const since = story.now();
  servers.endLease();
  await b.enters();
  p.restore();
  story.say('the renewals reach Redis');
  await untilTold(staging, survey, a, since, 'its key was taken while renewals were on the way');
}

/** Nobody looks at `lost` before the loss. It has aborted all the same, and the process lives. */
async function looksAtLast({ two, story, servers }: Staging) {
  const { a, b } = two(LEASE_MS, LONG_LEASE_MS);
  await a.enters(STEP_LIMIT_MS, 'looks away');
  servers.endLease();
  await b.enters();
  await story.pass(LEASE_MS + SLACK_MS);
  await a.look();
  if (!a.isLost())
    throw new Fault('`lost` had not aborted a lease after the key was taken: nobody had looked at it before.');
}

/** A was paused past the end of its lease. It releases as soon as it is told, and its renewal has not been answered by then. */
async function releasesWhenTold({ two, story, servers }: Staging) {
  const { p, a, b } = two(LEASE_MS, LONG_LEASE_MS);
  await a.enters();
  p.stop();
  story.say('the process of A is paused');
  servers.endLease();
  await b.enters();
  await story.pass(1.5 * LEASE_MS);
  p.resume();
  story.say('the process of A resumes');
  const told = await story.endOf(a.told, LEASE_MS + SLACK_MS);
  const after = 'after its process had been paused for longer than the lease, and B had entered';
  if (told.how !== 'done') throw new Fault(`\`onLeaseLost\` had not been called a lease ${after}.`);
  story.say('A is told that it has lost the lock');
  await a.leaves();
  await story.pass(LEASE_MS);
  if (a.losses.length > 1) throw new Fault(`\`onLeaseLost\` was called ${a.losses.length} times ${after}.`);
}

/** How long after `since` the holder was told, in each way that the lock has. */
export async function untilTold(
  { story }: Staging,
  { hasLost, callsOnLeaseLost }: Survey,
  holder: Holder,
  since: number,
  fault: string,
): Promise<number> {
  await story.pass(since + LEASE_MS + SLACK_MS - story.now());
  const at: number[] = [];
  if (hasLost) {
    const lostAt = holder.lostAt();
    story.say(lostAt === undefined ? '`lost` of A has not aborted' : '`lost` of A has aborted');
    if (lostAt === undefined) throw new Fault(`\`lost\` had not aborted a lease after ${fault}.`);
    at.push(lostAt);
  }
  if (callsOnLeaseLost) {
    const { losses } = holder;
    story.say(`A has called \`onLeaseLost\` ${losses.length === 1 ? 'once' : `${losses.length} times`}`);
    if (losses.length === 0) throw new Fault(`\`onLeaseLost\` had not been called a lease after ${fault}.`);
    // Once is enough, whatever is found later, when it looks at `lost` or releases.
    await story.pass(LEASE_MS);
    await story.endOf(holder.look(), SLACK_MS);
    await holder.leaves();
    if (losses.length > 1) throw new Fault(`\`onLeaseLost\` was called ${losses.length} times after ${fault}.`);
    at.push(...losses);
  }
  return Math.max(...at) - since;
}

/** A renewal is rejected because the connection breaks: the process must survive. */
export const failedRenewal = ({ stage }: LockUnderTest) =>
  stage(async ({ process, story }) => {
    const p = process();
    const a = p.holder('A', LEASE_MS);
    await a.enters();
    const renewal = p.hold();
    await renewal.waits('A renews', LEASE_MS);
    p.cut('reset');
    story.say('the connection of A breaks, and the renewal is rejected');
    // Those that follow are rejected as well.
    await story.pass(LEASE_MS);
    p.restore();
    await story.pass(LEASE_MS / 2);
    await a.leaves();
    await story.pass(LEASE_MS);
    return holds('A renewal was rejected, and its process survived.');
  });

/** What is on its way at a release has come by then, in milliseconds. */
const SETTLE_MS = 100;

/** After its release a lock must send nothing more. */
export const quiet = ({ stage }: LockUnderTest) =>
  stage(async ({ process, story }) => {
    const p = process();
    const a = p.holder('A', LEASE_MS);
    await a.enters();
    await story.pass(LEASE_MS / 2);
    await a.leaves();
    await story.pass(SETTLE_MS);
    const from = story.now();
    await story.pass(2 * LEASE_MS);
    const late = p.sentSince(from);
    if (late.length === 0) return holds('After its release it sent nothing in two leases.');
    story.say(`A sends ${late.map(({ command }) => command.script ?? command.name).join(', ')}`);
    throw new Fault(
      `After its release it sent ${countOf(late.length, 'command')} in two leases: something keeps running.`,
    );
  });

/** By then who asks is waiting, and a process gives others a turn that has passed the lock on to its own waiters, in milliseconds. */
const ARRIVE_MS = 50;
const LONG_HOLD_MS = 2_000;

const notHeldCases: Record<string, (staging: Staging) => Promise<End | undefined>> = {
  'which was never acquired': ({ process, story }) => story.endOf(process().holder('A').release(), STEP_LIMIT_MS),
  async 'which was already released'({ process }) {
    const a = process().holder('A');
    await a.enters();
    await a.leaves();
    return a.leaves();
  },
  async 'whose key was deleted'({ process, servers }) {
    const a = process().holder('A');
    await a.enters();
    if (!servers.endLease()) throw new NotStagedError('A is inside, but there is no key to delete.');
    return a.leaves();
  },
  async 'which another holder has by now'({ process, servers }) {
    const [a, b] = [process().holder('A'), process().holder('B')];
    await a.enters();
    servers.endLease();
    await b.enters();
    return a.leaves();
  },
  'that a waiter of its own process now holds': passedOn(ARRIVE_MS),
  'that it held for a while, and a waiter of its own process now holds': passedOn(LONG_HOLD_MS),
  async 'whose connection was cut for two leases'({ two, story }) {
    const { p, a, b } = two(LEASE_MS);
    await a.enters();
    p.cut();
    await story.pass(2 * LEASE_MS);
    const isHeld = await b.isKeptOut();
    p.restore();
    // A lock without a lease is still held.
    return isHeld ? undefined : a.leaves();
  },
};

/** A is inside for `afterMs`, then releases twice. A waiter of its process enters in between. */
function passedOn(afterMs: number) {
  return async ({ process, story }: Staging): Promise<End> => {
    const [p, q] = [process(), process()];
    const [a, b, c] = [p.holder('A'), p.holder('B, in the process of A,'), q.holder('C')];
    await a.enters();
    const asked = b.acquire();
    await story.pass(afterMs);
    await a.leaves();
    await b.mustEnter('A had released, and', STEP_LIMIT_MS, asked);
    const end = await a.leaves();
    await c.mustStayOut('A released a second time, and C entered while B, in the process of A, was inside.');
    await b.mustLeave('A had released a second time, and');
    return end;
  };
}

/** release() of a lock that is not held must reject with LOCK_NOT_HELD, for whatever reason it is not held. */
export async function notHeld({ survey, stage }: LockUnderTest) {
  for (const [name, run] of Object.entries(notHeldCases)) {
    await stage(async (staging) => {
      const end = await run(staging);
      if (end !== undefined && !isNotHeld(end))
        throw new Fault(`The release() of a lock ${name} ${saidOf(end)}. It must reject with LOCK_NOT_HELD.`);
    });
  }
  for (const isFirst of [true, false]) await stage((staging) => astray(staging, isFirst, survey.renewal.length > 0));
  return holds('release() rejects with LOCK_NOT_HELD whenever the lock is no longer held.');
}

/** A lock object is released while it holds nothing, before its first hold or after it: the next hold must be as any other. */
async function astray({ two, story }: Staging, isFirst: boolean, renews: boolean) {
  // A lease that nobody renews must not end while others try.
  const leaseMs = renews ? LEASE_MS : LONG_LEASE_MS;
  const { p, a, b } = two(leaseMs);
  const when = isFirst ? 'A had released before it acquired.' : 'A had acquired once and released twice.';
  if (!isFirst) {
    await a.enters();
    await a.leaves();
  }
  await a.leaves();
  await a.mustEnter(`${when} Then`);
  if (renews) await story.pass(1.25 * leaseMs);
  await b.mustStayOut(`${when} Then A acquired, and B entered while A was inside.`);
  await a.mustLeave(`${when} Then it acquired, and`);
  await story.pass(SETTLE_MS);
  const from = story.now();
  await story.pass(2 * leaseMs);
  const late = p.sentSince(from).length;
  if (late > 0)
    throw new Fault(`${when} Then it acquired and released, and afterwards still sent ${countOf(late, 'command')}.`);
  if (a.losses.length > 0)
    throw new Fault(`${when} Then it acquired and released, and afterwards was told that it had lost the lock.`);
}

const KEYS = 12;
/** In milliseconds. With a shorter lease some libraries renew without a pause, and would do so for all keys. */
const LEASE_OF_EACH_MS = 1_500;
const LEASES_BEFORE = 3;
/** How long the others are held after some are released, in leases. */
const LEASES_AFTER = 1.5;

/** One process holds twelve keys at once: each must be renewed, whichever is released first. */
export const manyKeys = ({ stage }: LockUnderTest) =>
  stage(async ({ process, story, key }) => {
    const [p, q] = [process(), process()];
    const all = Array.from({ length: KEYS }, (_, at) => ({
      ofKey: `${key}:${at + 1}`,
      a: p.holder(`A of key ${at + 1}`, LEASE_OF_EACH_MS, `${key}:${at + 1}`),
    }));
    for (const { a } of all) await a.enters();
    const stay = async (held: typeof all, leases: number) => {
      await story.pass(leases * LEASE_OF_EACH_MS);
      const rivals = held.map(({ ofKey }) => q.holder(`B of ${ofKey}`, LEASE_OF_EACH_MS, ofKey));
      const keptOut = await Promise.all(rivals.map((b) => b.isKeptOut()));
      const entered = keptOut.filter((isOut) => !isOut).length;
      if (entered > 0)
        throw new Fault(
          `One process held ${countOf(held.length, 'key')} for ${leases} leases, but others acquired ${entered} of them.`,
        );
    };
    const leave = async (held: typeof all) => {
      for (const { a } of held) await a.mustLeave(`While one process held ${KEYS} keys,`);
    };
    await stay(all, LEASES_BEFORE);
    const isOdd = (at: number) => at % 2 === 1;
    await leave(all.filter((_, at) => isOdd(at)).toReversed());
    const others = all.filter((_, at) => !isOdd(at));
    await stay(others, LEASES_AFTER);
    await leave(others);
    return holds(`One process held ${KEYS} keys at once, and nobody else acquired any of them.`);
  });
