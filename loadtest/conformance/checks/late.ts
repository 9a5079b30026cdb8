// Delays commands: those of acquire() and release() reach Redis while another holder is inside, and a renewal after its release.

import type { ReadCommand } from '../../../simulation/proxy.ts';
import { NotStagedError } from '../../evidence/not-staged.ts';
import type { DrillOutcome } from '../../harness/drill.ts';
import { countOf, formatDuration } from '../../narration/numbers.ts';
import { doesNotApply, Fault, holds, STEP_LIMIT_MS } from '../outcome.ts';
import { LEASE_MS, LONG_LEASE_MS, type LockUnderTest, type Staging } from '../staging.ts';

/** How long the late holder is watched while another one is inside, in milliseconds. */
const LATE_LOOK_MS = 300;
/** How soon a waiter sends its listening command, and how soon it must enter when it has missed the release, in milliseconds. */
const ASK_MS = 500;
const WAKE_MS = 2_000;
const MOMENT_MS = 10;

export async function lateRelease({ survey, stage }: LockUnderTest) {
  for (const at of survey.release.keys()) {
    await stage(async ({ two, servers, story }) => {
      const { p, q, a, b } = two();
      const c = q.holder('C');
      await a.enters();
      const held = p.hold(at);
      const releasing = a.release();
      const name = await held.waits('A releases');
      servers.endLease();
      await b.enters();
      held.letGo();
      await story.ends(`the ${name} reaches Redis; release() of A`, releasing);
      const isOut = await c.isKeptOut();
      const leaving = await b.leaves();
      if (isOut && leaving.how === 'done') return;
      const entered = isOut ? '' : ', and C entered while B was inside';
      throw new Fault(`The late ${name} of A's release freed the lock of B${entered}.`);
    });
  }
  return holds(`${countOf(survey.release.length, 'command')} of release() delayed: nobody else entered.`);
}

export async function lateAcquire(lock: LockUnderTest) {
  const { survey, promises } = lock;
  if (promises.fencing && !survey.hasToken) throw new Fault('It promises fencing, but its locks have no fencingToken.');
  for (const at of survey.acquire.keys()) await holdAcquire(lock, at);
  const tokens = survey.hasToken ? ', and the tokens are in the order of the holds' : '';
  return holds(
    `${countOf(survey.acquire.length, 'command')} of acquire() delayed past the lease: the late holder did not enter while another one was inside${tokens}.`,
  );
}

const holdAcquire = ({ stage }: LockUnderTest, at: number) =>
  stage(async ({ two, story }) => {
    const { p, a, b } = two(LEASE_MS, LONG_LEASE_MS);
    const held = p.hold(at);
    const asked = a.acquire();
    const name = await held.waits('A asks');
    await story.pass(1.25 * LEASE_MS);
    if ((await story.endOf(b.acquire(), 2 * LEASE_MS)).how !== 'done') {
      if (at === 0) throw new NotStagedError('B did not enter a free lock.');
      // What A has taken by then has no end: contract-crash judges it.
      return;
    }
    story.say('the lease has ended, B enters');
    held.letGo();
    const late = await story.ends(`the ${name} reaches Redis; acquire() of A`, asked, LATE_LOOK_MS);
    const [tokenOfA, tokenOfB] = [late.how === 'done' ? a.token() : undefined, b.token()];
    const hasBoth = tokenOfA !== undefined && tokenOfB !== undefined;
    if (late.how === 'done' && !a.isLost()) {
      const tokens = hasBoth ? `: the token of A is ${tokenOfA}, that of B is ${tokenOfB}` : '';
      throw new Fault(`The ${name} of A arrived after its lease, and A entered while B was inside${tokens}.`);
    }
    await b.leaves();
    if (hasBoth && tokenOfA > tokenOfB) {
      const said = `A had lost its lock when its ${name} arrived, but its token is ${tokenOfA}, and the token of B is ${tokenOfB}`;
      throw new Fault(`${said}: the writes of A count as newer.`);
    }
    if (late.how !== 'pending') return;
    const next = await story.ends('acquire() of A', asked);
    const later = a.token();
    if (next.how === 'done' && later !== undefined && tokenOfB !== undefined && later <= tokenOfB)
      throw new Fault(`A entered after B, but its token is ${later}, and the token of B was ${tokenOfB}.`);
  });

/** A waiter must not sleep on while the lock is free. */
export async function wakeUp({ stage }: LockUnderTest) {
  const outcome = await stage(missesRelease);
  if (outcome.verdict === 'pass') await stage(goesRound);
  return outcome;
}

/** The lock goes to another process and comes back: a waiter here must enter long before the lease ends. */
async function goesRound({ process, story }: Staging) {
  const [p, q] = [process(), process()];
  const [a, b, c] = [p.holder('A'), q.holder('B'), p.holder('C, in the process of A,')];
  await a.enters();
  const asked = [b, c].map((waiter) => ({ waiter, entered: waiter.acquire() }));
  await story.pass(ASK_MS);
  await a.leaves();
  await Promise.all(
    asked.map(async ({ waiter, entered }) => {
      const end = await story.ends(`acquire() of ${waiter.name}`, entered, WAKE_MS);
      if (end.how === 'done') return waiter.mustLeave('A had released, and');
      const late = `${waiter.name} had not entered ${formatDuration(WAKE_MS)} after A released`;
      throw new Fault(`A lost wake-up: ${late}. The lease is ${formatDuration(LONG_LEASE_MS)}.`);
    }),
  );
}

/** A waiter misses a release because its SUBSCRIBE or BLPOP is on the way: it must enter long before the lease ends. */
async function missesRelease({ two, story }: Staging): Promise<DrillOutcome> {
  const { q, a, b } = two();
  await a.enters();
  const held = q.hold(0, isListening);
  const from = story.now();
  const asked = b.acquire();
  const command = await held.comes(ASK_MS);
  if (command === undefined) {
    const sent = `it sent ${countOf(q.sentSince(from).length, 'command')} in ${formatDuration(ASK_MS)}`;
    return doesNotApply(`No command of a waiter subscribes or blocks, so Redis wakes none: ${sent}.`);
  }
  const { name } = command;
  story.say(`B tries, and its ${name} is held on the way`);
  // What it sends besides is answered by then.
  await story.pass(MOMENT_MS);
  await a.leaves();
  held.letGo();
  story.say(`the ${name} reaches Redis`);
  const end = await story.endOf(asked, WAKE_MS);
  if (end.how === 'done') {
    return holds(`B entered ${formatDuration(end.ms)} after a release that it missed.`, {
      wokenMs: end.ms,
    });
  }
  const free = `the lock was free before the ${name} of B reached Redis, but B had not entered ${formatDuration(WAKE_MS)} later`;
  throw new Fault(`A lost wake-up: ${free}. The lease is ${formatDuration(LONG_LEASE_MS)}.`);
}

/** Commands that subscribe, or wait at the server: BLPOP and the like, and blocking reads of a stream. */
const isListening = ({ name, args }: ReadCommand) =>
  /^([PS]?SUBSCRIBE|B(L|R|Z)M?(POP|MOVE).*)$/.test(name) || args.some((arg) => /^block$/i.test(arg));

const LEASES = 3;
/** So long the renewal is late, and so long what is on its way takes to end, in milliseconds. */
const LATE_MS = 20;
const SETTLE_MS = 100;

/** A hold is released while its renewal is on the way: everything of it must stop. */
export const lateRenewal = ({ stage }: LockUnderTest) =>
  stage(async ({ process, story }) => {
    const p = process();
    const [first, a] = [p.holder('A', LEASE_MS), p.holder('A', LEASE_MS)];
    // Some things stay for good from the first hold on, such as a connection that listens.
    await first.enters();
    await first.leaves();
    await story.pass(SETTLE_MS);
    const timers = p.timers();
    await a.enters();
    const renewal = p.hold();
    await renewal.mustCome(LEASE_MS);
    const released = a.release();
    story.say('A releases while its renewal is on the way');
    await story.pass(LATE_MS);
    renewal.letGo();
    await story.endOf(released, STEP_LIMIT_MS);
    await story.pass(SETTLE_MS);
    const from = story.now();
    await story.pass(LEASES * LEASE_MS);
    const late = p.sentSince(from).length;
    if (late > 0) throw new Fault(`After its release it sent ${countOf(late, 'command')} in ${LEASES} leases.`);
    const more = p.timers() - timers;
    if (more > 0) throw new Fault(`${LEASES} leases after its release it still had ${countOf(more, 'active timer')}.`);
    if (a.isLost() || a.losses.length > 0) throw new Fault('A released hold later reported that its lock was lost.');
    return holds(`A release overtook a renewal: in ${LEASES} leases nothing was sent, and no loss was reported.`);
  });
