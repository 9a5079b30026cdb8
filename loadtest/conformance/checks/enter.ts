// One at a time is inside: on one node and on two, by keys of its own, and as often as it has entered.

import { countOf, formatDuration, listOf } from '../../narration/numbers.ts';
import type { LockUnderTest } from '../lock-under-test.ts';
import { doesNotApply, Fault, holds, NoLock, saidOf } from '../outcome.ts';
import { LEASE_MS, LONG_LEASE_MS } from '../staging.ts';

const LIMIT_MS = 5_000;
/** A waiter waits in earnest after so many milliseconds. */
const WAIT_MS = 250;
const AGAIN_MS = 1_000;
/** What is on its way at a release has come by then. */
const SETTLE_MS = 100;
const USE_IT = 'use the key that you are given, and begin the names of further keys with it';

/** A free lock is entered, a held one by nobody else, and a release lets the next one in. */
export const enter = ({ stage }: LockUnderTest) =>
  stage(async ({ process, story }) => {
    const [p, q] = [process(), process()];
    const [a, b] = [p.holder('A'), p.holder('B, in the same process,')];
    const [c, waiter] = [q.holder('C, in another process,'), q.holder('D')];
    const entered = await story.endOf(a.acquire(), LIMIT_MS);
    if (entered.how !== 'done') throw new NoLock(`A free lock was not entered: acquire() ${saidOf(entered)}.`);
    await story.endOf(a.release(), LIMIT_MS);
    const again = await story.endOf(a.acquire(), LIMIT_MS);
    if (again.how !== 'done') throw new NoLock(`A released lock was not entered again: acquire() ${saidOf(again)}.`);
    await story.endOf(a.release(), LIMIT_MS);
    await a.enters(LIMIT_MS);
    if (!(await b.isKeptOut())) throw new NoLock('Two holders of one process were inside at the same moment.');
    if (!(await c.isKeptOut())) throw new NoLock('Holders of two processes were inside at the same moment.');
    const waiting = waiter.acquire();
    await story.pass(WAIT_MS);
    const released = await a.leaves();
    if (released.how !== 'done') throw new NoLock(`The holder can't leave: release() ${saidOf(released)}.`);
    const next = await story.endOf(waiting, LIMIT_MS);
    if (next.how !== 'done')
      throw new Fault(`The lock is free, and its waiter is not inside: acquire() ${saidOf(next)}.`);
    story.say('the waiter enters');
    await waiter.leaves();
    return holds('One at a time is inside, on one node and on two; a release lets the waiter in.');
  });

/** Every key that the lock uses begins with the key that it is given, and is in the same cluster slot. */
export const keys = ({ stage }: LockUnderTest) =>
  stage(async ({ two, key, servers }) => {
    const { p, q, a, b } = two();
    await a.enters();
    // One waits as well: that may take a key of its own.
    await b.isKeptOut();
    await a.leaves();
    const used = [...new Set([...p.seen, ...q.seen].flatMap(({ command }) => servers.keysOf(command)))];
    if (used.length === 0) return doesNotApply('It sends Redis no command that has a key.');
    const foreign = used.filter((name) => !name.startsWith(key));
    if (foreign.length > 0) throw new Fault(`It uses ${listOf(foreign.slice(0, 3))}: ${USE_IT}.`);
    const elsewhere = used.filter((name) => hashTag(name) !== hashTag(key));
    if (elsewhere.length > 0)
      throw new Fault(`${listOf(elsewhere.slice(0, 3))} and ${key} may be on two servers of a Cluster: ${USE_IT}.`);
    return holds(`All its keys begin with the key that it is given: ${used.length} of them.`);
  });

/** The part of a key that says which slot it is in. https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/ */
const hashTag = (key: string) => /^[^{]*\{([^}]+)\}/.exec(key)?.[1] ?? key;

/** Two holders of one process, of which the first has lost its lock: its renewals and its release leave the second alone. */
export const sameNode = ({ stage }: LockUnderTest) =>
  stage(async ({ process, servers, story }) => {
    const [p, q] = [process(), process()];
    // The lease of B is so long that a renewal of A shows: it makes it short.
    const [a, b] = [p.holder('A', LEASE_MS), p.holder('B, on the same node,')];
    const [c, d] = [q.holder('C'), q.holder('C')];
    await a.enters();
    servers.endLease();
    await b.enters();
    await story.pass(2 * LEASE_MS);
    const leftMs = servers.leaseLeftMs();
    if (leftMs === -2) throw new Fault('The lease of B was over while B was inside.');
    story.say(leftMs === -1 ? 'the key of B has no end' : `the lease of B lasts ${formatDuration(leftMs)} more`);
    if (leftMs !== -1 && leftMs < LONG_LEASE_MS / 2)
      throw new Fault(`A renewed a lease that is B's by now: it lasted ${formatDuration(leftMs)} more.`);
    await c.mustStayOut('The lock of B was free while B was inside.');
    await a.leaves();
    await d.mustStayOut('The release of A freed the lock of B, and C entered while B was inside.');
    await b.mustLeave('After A had released,');
    return holds('A holder that has lost its lock leaves that of the next holder on its node alone.');
  });

/** A holder acquires its own lock again, where that is promised: it holds until it has released as often. */
export const nested = ({ stage, promises }: LockUnderTest) =>
  stage(async ({ two, story }) => {
    const { p, q, a, b } = two(promises.renewal ? LEASE_MS : LONG_LEASE_MS);
    const c = q.holder('C');
    await a.enters();
    const again = await story.ends('the second acquire() of A', a.acquire(), AGAIN_MS);
    if (again.how !== 'done') {
      const said = `A holder that asks for its own lock again waits for itself: acquire() ${saidOf(again)}`;
      if (promises.reentry) throw new Fault(`${said}.`);
      return doesNotApply(`${said}. It does not promise more.`);
    }
    await a.leaves();
    await b.mustStayOut('A had acquired twice and released once, and B entered.');
    if (promises.renewal) await story.pass(2 * LEASE_MS);
    await b.mustStayOut('A had acquired twice and released once, and two leases later B entered.');
    await a.mustLeave('A had acquired twice, and the second');
    await c.mustEnter('A had acquired and released twice, and the lock was not free:');
    await story.pass(SETTLE_MS);
    const from = story.now();
    await story.pass(2 * LEASE_MS);
    const late = p.sentSince(from).length;
    if (late > 0) throw new Fault(`A had acquired and released twice, and then sent ${countOf(late, 'command')}.`);
    return holds('A holder may acquire its own lock again, and holds until it has released as often.');
  });
