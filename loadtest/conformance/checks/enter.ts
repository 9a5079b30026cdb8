// Basic exclusion: one holder at a time on one node and on two, keys, nested holds, single tries, and the permits of a semaphore.

import { countOf, formatDuration, listOf } from '../../narration/numbers.ts';
import type { Holder } from '../holder.ts';
import { doesNotApply, Fault, holds, NoLock, STEP_LIMIT_MS, saidOf } from '../outcome.ts';
import { LEASE_MS, LONG_LEASE_MS, type LockUnderTest, type Staging } from '../staging.ts';
import { TAKEOVER_LEASES, takeOver } from './death.ts';

const LIMIT_MS = 5_000;
/** After how long a waiter is certainly waiting, in milliseconds. */
const WAIT_MS = 250;
const AGAIN_MS = 1_000;
/** What is on its way at a release has come by then. */
const SETTLE_MS = 100;
const USE_IT = 'use the key that the lock is given, and start the name of every other key with it';

/** A free lock lets a caller in, a held lock keeps others out, and a release lets the next one in. */
export const enter = ({ stage }: LockUnderTest) =>
  stage(async ({ process, story }) => {
    const [p, q] = [process(), process()];
    const [a, b] = [p.holder('A'), p.holder('B, in the same process,')];
    const [c, waiter] = [q.holder('C, in another process,'), q.holder('D')];
    for (const which of ['a free', 'a released']) {
      const entered = await story.endOf(a.acquire(), LIMIT_MS);
      if (entered.how !== 'done') throw new NoLock(`The acquire() of ${which} lock ${saidOf(entered)}.`);
      const left = await story.endOf(a.release(), LIMIT_MS);
      if (left.how !== 'done') throw new NoLock(`The release() of the holder ${saidOf(left)}.`);
    }
    await a.enters(LIMIT_MS);
    if (!(await b.isKeptOut())) throw new NoLock('Two holders in one process were inside at the same moment.');
    if (!(await c.isKeptOut())) throw new NoLock('Two holders in two processes were inside at the same moment.');
    const waiting = waiter.acquire();
    await story.pass(WAIT_MS);
    const released = await a.leaves();
    if (released.how !== 'done') throw new NoLock(`The release() of the holder ${saidOf(released)}.`);
    const next = await story.endOf(waiting, LIMIT_MS);
    if (next.how !== 'done') throw new Fault(`The lock is free, but acquire() of its waiter ${saidOf(next)}.`);
    story.say('the waiter enters');
    await waiter.mustLeave('D had waited, and');
    return holds('One holder at a time is inside, on one node and on two. A release lets the waiter in.');
  });

/** Every key of the lock must start with the key that it is given, and be in the same cluster slot. */
export const keys = ({ stage }: LockUnderTest) =>
  stage(async ({ two, key, servers }) => {
    const { p, q, a, b } = two();
    await a.enters();
    // One waits as well: that may take a key of its own.
    await b.isKeptOut();
    await a.leaves();
    const used = [...new Set([...p.seen, ...q.seen].flatMap(({ command }) => servers.keysOf(command)))];
    if (used.length === 0) return doesNotApply('It sends no command with a key to Redis.');
    const foreign = used.filter((name) => !name.startsWith(key));
    if (foreign.length > 0) throw new Fault(`It uses ${listOf(foreign.slice(0, 3))}: ${USE_IT}.`);
    const elsewhere = used.filter((name) => hashTag(name) !== hashTag(key));
    if (elsewhere.length > 0)
      throw new Fault(
        `${listOf(elsewhere.slice(0, 3))} and ${key} may be on different servers of a Cluster: ${USE_IT}.`,
      );
    return holds(`All of its keys start with the key that it is given: ${used.length} of them.`);
  });

/** The part of a key that determines its slot. https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/ */
const hashTag = (key: string) => /^[^{]*\{([^}]+)\}/.exec(key)?.[1] ?? key;

/** How long after a release two others of its process ask, in milliseconds: its command is on the way to Redis, or its reply on the way back. */
const ASK_AFTER_MS = [0, 0.2, 0.5];

/** A holder must not affect the next holder of its process. */
export async function sameNode({ stage, promises }: LockUnderTest) {
  for (const afterMs of ASK_AFTER_MS) await stage((staging) => askAtRelease(staging, afterMs, promises.reentry));
  return stage(loseToTheNext);
}

/** Two ask while the release of another holder of their process is under way. One of them enters, then the other. */
async function askAtRelease({ process, story, key }: Staging, afterMs: number, hasReentry = false) {
  const [p, q] = [process(), process()];
  const [a, b, c] = [p.holder('A'), p.holder('B'), p.holder('C')];
  await a.enters();
  const released = a.release();
  await story.pass(afterMs);
  const when = 'B and C asked while the release of A, of the same process, was under way';
  story.say(when);
  const asked = [b, c].map((holder) => ({ holder, entered: holder.acquire() }));
  const inside: Holder[] = [];
  for (const { holder, entered } of asked) void entered.then(() => inside.push(holder)).catch(() => {});
  await story.endOf(released, STEP_LIMIT_MS);
  await story.endOf(Promise.race(asked.map(({ entered }) => entered)), STEP_LIMIT_MS);
  await story.pass(SETTLE_MS);
  if (inside.length > 1) throw new Fault(`${when}: both entered.`);
  for (const { holder, entered } of inside[0] === c ? asked.toReversed() : asked) {
    await holder.mustEnter(`${when}, and`, STEP_LIMIT_MS, entered);
    if (hasReentry) {
      const twin = p.holder(`${holder.name}, by another lock object,`, LONG_LEASE_MS, key, {
        ownerToken: holder.ownerToken,
      });
      await twin.mustEnter(`${when}. ${holder.name} was inside, and`);
      await twin.mustLeave(`${when}. ${holder.name} was inside twice, and`);
    }
    await q.holder('D').mustStayOut(`${when}. ${holder.name} was inside, and D entered.`);
    await holder.mustLeave(`${when}, and later`);
  }
}

/** Two holders in one process, the first of which has lost its lock: its renewals and its release must not affect the second. */
async function loseToTheNext({ process, servers, story }: Staging) {
  const [p, q] = [process(), process()];
  // The lease of B is so long that a renewal of A shows: it makes it short. It does not end by itself, however slowly others are kept out.
  const [a, b] = [p.holder('A', LEASE_MS), p.holder('B, on the same node,', 6 * LONG_LEASE_MS)];
  const [c, d, e] = [q.holder('C'), q.holder('C'), q.holder('C')];
  await a.enters();
  servers.endLease();
  await b.enters();
  await story.pass(2 * LEASE_MS);
  await c.mustStayOut('The lock of B was free while B was inside.');
  await a.leaves();
  await d.mustStayOut('The release of A freed the lock of B, and C entered while B was inside.');
  // Before B renews.
  await story.pass(LEASE_MS);
  await e.mustStayOut(
    'A had lost the lock to B, but still renewed the key. That cut the lease of B short, and C entered while B was inside.',
  );
  await b.mustLeave('After A had released,');
  return holds('A holder that has lost its lock does not affect the next holder on its node.');
}

/** If re-entry is promised, a holder may acquire its own lock again, and holds it until it has released as often. */
export const nested = ({ stage, promises }: LockUnderTest) =>
  stage(async ({ two, story }) => {
    const { p, q, a, b } = two(promises.renewal ? LEASE_MS : LONG_LEASE_MS);
    const c = q.holder('C');
    await a.enters();
    const again = await story.ends('the second acquire() of A', a.acquire(), AGAIN_MS);
    if (again.how !== 'done') {
      const said = `A holder that tries to acquire its own lock again waits for itself: acquire() ${saidOf(again)}`;
      if (promises.reentry) throw new Fault(`${said}.`);
      return doesNotApply(`${said}. It does not promise re-entry.`);
    }
    await a.leaves();
    await b.mustStayOut('A had acquired twice and released once, and B entered.');
    if (promises.renewal) await story.pass(2 * LEASE_MS);
    await b.mustStayOut('A had acquired twice and released once, and B entered two leases later.');
    await a.mustLeave('A had acquired twice, and the second');
    await c.mustEnter('A had acquired and released twice, but');
    await story.pass(SETTLE_MS);
    const from = story.now();
    await story.pass(2 * LEASE_MS);
    const late = p.sentSince(from).length;
    if (late > 0)
      throw new Fault(`A had acquired and released twice, and then still sent ${countOf(late, 'command')}.`);
    return holds('A holder may acquire its own lock again, and holds until it has released as often.');
  });

/** What nobody awaits has ended by then, in milliseconds. */
const UNAWAITED_MS = 2 * LEASE_MS;

/** A signal that is aborted from the start means a single try. Two try at the same moment. */
export async function oneTry({ stage, promises }: LockUnderTest) {
  await stage(async (staging) => {
    const { p, a, b } = staging.two(LEASE_MS);
    await a.mustEnter('In a single try at a free lock,', STEP_LIMIT_MS, a.acquire('once'));
    p.kill();
    staging.story.say('A entered in a single try, and its process is killed');
    await takeOver(staging, b, 'A entered in a single try and was killed', 'the key is still there');
  });
  await stage(inVain);
  await stage(afterAbort);
  if (promises.masters) await stage(minority);
  return stage(async ({ process, story, servers }) => {
    const [p, q] = [process(), process()];
    const [alone, a, b] = [p.holder('A', LEASE_MS), p.holder('A', LEASE_MS), q.holder('B', LEASE_MS)];
    await alone.mustEnter('In a single try at a free lock,', STEP_LIMIT_MS, alone.acquire('once'));
    await alone.leaves();
    await story.pass(UNAWAITED_MS);
    const before = servers.contents();
    const tries = await Promise.all(
      [a, b].map((each) => story.ends(`single try of ${each.name}`, each.acquire('once'))),
    );
    if (tries.some(({ how }) => how === 'pending')) throw new Fault('A single try waits for the lock.');
    if (tries.every(({ how }) => how === 'done'))
      throw new Fault('Of two single tries at the same moment, both entered.');
    // Votes may be split.
    if (!promises.masters && tries.every(({ how }) => how === 'rejected'))
      throw new Fault('Of two single tries at a free lock at the same moment, neither entered.');
    for (const [at, each] of [a, b].entries()) if (tries[at]?.how === 'done') await each.leaves();
    await story.pass(UNAWAITED_MS);
    const left = Object.keys(servers.contents()).filter((name) => !(name in before));
    if (left.length > 0) throw new Fault(`Two single tries left ${left.join(', ')} behind.`);
    return holds('Of two single tries at the same moment, one entered, and nothing was left behind.');
  });
}

/** Two try once while A is inside and another waits, one in each process. What they leave must keep nobody out after A has released. */
async function inVain({ two, story }: Staging) {
  const { p, q, a, b } = two();
  await a.enters();
  const asked = b.acquire();
  await story.pass(WAIT_MS);
  for (const each of [p.holder('C, in the process of A,'), q.holder('D, in the process of B, which waits,')]) {
    const end = await story.ends(`one try of ${each.name}: acquire()`, each.acquire('once'));
    if (end.how === 'pending') throw new Fault(`${each.name} tried once while A was inside, and waits for the lock.`);
    if (end.how === 'done') throw new Fault(`${each.name} tried once, and entered while A was inside.`);
  }
  const tried = 'Two had tried once in vain, and then';
  await a.mustLeave(tried);
  await b.mustEnter(tried, LIMIT_MS, asked);
  await b.mustLeave(tried);
  const [e, f] = [q.holder('E'), p.holder('F')];
  for (const each of [e, f]) {
    await each.mustEnter(tried, LIMIT_MS);
    await each.mustLeave(tried);
  }
}

/** A waiter was aborted, and the holder has left: a single try of the waiter's process must enter long before the lease ends. */
async function afterAbort({ two, story }: Staging) {
  const { q, a, b } = two();
  const c = q.holder('C');
  await a.enters();
  const asked = b.acquire();
  await story.pass(WAIT_MS);
  b.abort();
  await story.ends('the client of B, which waited, goes: acquire()', asked);
  await a.leaves();
  // What is left of B may take the lock once more, and give it back.
  for (const endsAt = story.now() + AGAIN_MS; story.now() < endsAt; await story.pass(SETTLE_MS)) {
    const end = await story.ends('one try of C, in the process of B: acquire()', c.acquire('once'));
    if (end.how === 'done') return c.mustLeave('B had waited and gone, A had released, and after one try');
  }
  throw new Fault(
    `B had waited and gone, and A had released: no single try of the process of B entered within ${formatDuration(AGAIN_MS)}.`,
  );
}

/** Only a minority of the masters can be reached: their votes must be given back long before the lease ends. */
async function minority({ process, story, servers }: Staging) {
  const p = process();
  const [first, a] = [p.holder('A'), p.holder('A')];
  // By then it is connected, and what stays for good is there.
  await first.enters();
  await first.leaves();
  await story.pass(UNAWAITED_MS);
  const before = servers.contents();
  for (const line of p.lines.slice(MINORITY)) line.cut('silent');
  const end = await story.ends(`A reaches ${MINORITY} of ${p.lines.length} masters: its single try`, a.acquire('once'));
  // Who waits for the others gives back later, and contract-sequences judges who enters.
  if (end.how !== 'rejected') return;
  await story.pass(UNAWAITED_MS);
  const left = Object.keys(servers.contents()).filter((name) => !(name in before));
  if (left.length > 0)
    throw new Fault(
      `A reached ${MINORITY} of ${p.lines.length} masters, tried once, and kept ${countOf(left.length, 'vote')}.`,
    );
}

/** A minority of five masters. */
const MINORITY = 2;
const PERMITS = 3;

/** A semaphore must let in as many holders as it has permits, and the permit of a dead holder must come back, whoever else is inside. */
export async function permits({ promises, stage }: LockUnderTest) {
  if (!promises.permits) return doesNotApply('It does not promise permits.');
  await stage(async ({ process, story }) => {
    const [p, q] = [process({ permits: PERMITS }), process({ permits: PERMITS })];
    const [a, b, c] = [p.holder('A'), p.holder('B'), q.holder('C')];
    const [d, e] = [q.holder('D'), p.holder('E')];
    for (const each of [a, b, c]) await each.mustEnter('With a free permit,', STEP_LIMIT_MS);
    story.say('A, B and C hold the three permits');
    await d.mustStayOut('D entered although all three permits were taken.');
    await d.leaves();
    await e.mustStayOut('D released without a permit, and E entered as the fourth holder.');
    const waiting = d.acquire();
    await a.mustLeave('With three holders inside,');
    await d.mustEnter('After A had released its permit,', STEP_LIMIT_MS, waiting);
    await e.mustStayOut('One permit was released, but two holders entered.');
  });
  await stage(async ({ process, story }) => {
    const withPermits = { permits: PERMITS };
    const [p, victim, q] = [process(withPermits), process(withPermits), process(withPermits)];
    const [a, dead] = [p.holder('A', LEASE_MS), victim.holder('B', LEASE_MS)];
    await a.enters();
    await dead.enters();
    victim.kill();
    story.say('the process of B is killed, A stays alive');
    await q.holder('C', LEASE_MS).enters();
    const heir = q.holder('D', LEASE_MS);
    await heir.mustEnter('After the death of B, with A and C inside,', TAKEOVER_LEASES * LEASE_MS);
    if (promises.renewal) await q.holder('E').mustStayOut('E entered although A, C and D held the three permits.');
  });
  return holds(
    'As many holders enter as there are permits. The permit of a dead holder comes back when its lease ends.',
  );
}
