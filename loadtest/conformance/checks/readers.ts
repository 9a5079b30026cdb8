// Checks read locks: many readers or one writer. A reader learns of its loss and releases as any other holder does.

import type { Holder } from '../holder.ts';
import { doesNotApply, Fault, holds, isNotHeld, STEP_LIMIT_MS, saidOf } from '../outcome.ts';
import { LEASE_MS, LONG_LEASE_MS, type LockUnderTest, type Staging } from '../staging.ts';
import { TAKEOVER_LEASES } from './death.ts';
import { untilTold } from './lease.ts';

/** How long readers are inside, in leases. */
const LEASES = 3;
/** A server tells the time in seconds and what is over: a lease may begin late in a second, in milliseconds. */
const BEGINS_MS = [0, 970];
/** By when a caller is waiting, in milliseconds. */
const ARRIVE_MS = 50;
/** How long a reader reads while others wait, and how soon after that each of them must enter, in milliseconds. */
const READS_MS = LEASE_MS / 4;
const SOON_MS = 500;
/** By when work that nobody awaits has ended, in milliseconds. */
const UNAWAITED_MS = 2 * LEASE_MS;

export async function readers({ stage, survey }: LockUnderTest) {
  if (!(await stage(async ({ process }) => process().hasReaders))) return doesNotApply('It has no read lock.');
  for (const leaseMs of [LEASE_MS, 2 * LEASE_MS])
    for (const beginsMs of BEGINS_MS) await stage((staging) => together(staging, leaseMs, beginsMs));
  if (await stage(nested)) await stage(nestedBeforeWriter);
  for (const isFirst of [true, false]) await stage((staging) => oneDies(staging, isFirst));
  await stage(leaseEnds);
  await stage(neverHeld);
  await stage(waits);
  await stage(writerWaits);
  await stage(async (staging) => {
    const { process, servers, story } = staging;
    const a = process().reader('A', LEASE_MS);
    await a.enters();
    servers.flush('ALL');
    await untilTold(staging, survey, a, story.now(), 'Redis had restarted empty while it was reading');
  });
  return holds(
    'Many readers or one writer are inside. A reader renews, learns of its loss, and leaves nothing behind.',
  );
}

/** Two read, as long as they like; then one writes. The leases of the two differ. */
async function together({ process, servers, story }: Staging, leaseMs: number, beginsMs: number) {
  await story.pass(beginsMs);
  const [p, q] = [process(), process()];
  const [a, b, d] = [p.reader('A', LEASE_MS), q.reader('B', leaseMs), p.reader('D', LEASE_MS)];
  const c = q.holder('C', LEASE_MS);
  const before = namesIn(servers.contents());
  await a.mustEnter('With a free lock,');
  await b.mustEnter('While A was reading,');
  await c.mustStayOut('A writer entered while two readers were inside.');
  await story.pass(LEASES * LEASE_MS);
  await c.mustStayOut(`A writer entered while two readers were inside, after ${LEASES} leases.`);
  await b.mustLeave('While two readers were inside,');
  await c.mustStayOut('A writer entered although only one of two readers had left.');
  await story.pass(LEASES * LEASE_MS);
  await c.mustStayOut(`A writer entered although only one of two readers had left, ${LEASES} leases later.`);
  for (const each of [a, b])
    if (each.losses.length > 0 || each.isLost())
      throw new Fault('A reader was told that it had lost the lock while it was inside.');
  await a.mustLeave('After the other reader had left,');
  await c.mustEnter('After both readers had left,');
  await d.mustStayOut('A reader entered while a writer was inside.');
  await c.mustLeave('While a writer was inside,');
  await d.mustEnter('After the writer had left,');
  await d.mustLeave('After the writer had left,');
  await story.pass(UNAWAITED_MS);
  const left = namesIn(servers.contents()).filter((name) => !before.includes(name));
  if (left.length > 0) throw new Fault(`All readers had left, but ${left.join(', ')} remained.`);
}

/** Without the number of their server. */
const namesIn = (contents: object) => Object.keys(contents).map((name) => name.replace(/^\d+ /, ''));

/** A reader reads again, and holds until it has released as often. Resolves with false when it waits for itself. */
async function nested({ process, story }: Staging) {
  const [a, c] = [process().reader('A', LEASE_MS), process().holder('C', LEASE_MS)];
  const d = process().reader('D', LEASE_MS);
  await a.enters();
  const again = await story.ends('acquire() of A', a.acquire());
  if (again.how !== 'done') return false;
  await d.mustEnter('While A held the read lock twice,');
  await a.mustLeave('While A held the read lock twice, and D read, too,');
  await d.mustLeave('While A held the read lock,');
  await c.mustStayOut('A writer entered after A had acquired the read lock twice and released it once.');
  await story.pass(LEASES * LEASE_MS);
  await c.mustStayOut(
    `A writer entered ${LEASES} leases after A had acquired the read lock twice and released it once.`,
  );
  await a.mustLeave('After A had acquired the read lock twice and released it once,');
  await c.mustEnter('After A had acquired the read lock twice and released it twice,', SOON_MS);
  return true;
}

/** A reader reads again while a writer waits: neither may wait for the other. */
async function nestedBeforeWriter({ process, story }: Staging) {
  const [a, c] = [process().reader('A'), process().holder('C')];
  await a.enters();
  const asked = c.acquire();
  await story.pass(ARRIVE_MS);
  const when = 'While A was reading and a writer was waiting,';
  await a.mustEnter(`${when} the second`, SOON_MS);
  await a.mustLeave(when);
  await a.mustLeave(when);
  await c.mustEnter('After A had acquired the read lock twice and released it twice, the waiting', SOON_MS, asked);
  await c.mustLeave('After A had acquired the read lock twice and released it twice,');
}

/** One of two readers is killed: the other is inside for as long as it likes, and then a writer is. */
async function oneDies({ process, story }: Staging, isFirst: boolean) {
  const [victim, q] = [process(), process()];
  const [dead, b, c] = [victim.reader('A', LEASE_MS), q.reader('B', LEASE_MS), q.holder('C', LEASE_MS)];
  for (const each of isFirst ? [dead, b] : [b, dead]) await each.enters();
  victim.kill();
  story.say('the process of A is killed');
  await story.pass(LEASES * LEASE_MS);
  const d = q.reader('D', LEASE_MS);
  await d.mustEnter('After one of two readers was killed,');
  await d.mustLeave('After one of two readers was killed,');
  await c.mustStayOut('A writer entered after one of two readers was killed, while the other one was inside.');
  await b.mustLeave('After the other reader was killed,');
  await c.mustEnter(`${LEASES} leases after one of two readers was killed, when the other one had left,`);
  await c.mustLeave('After a reader was killed,');
  const alone = process();
  await alone.reader('E', LEASE_MS).enters();
  alone.kill();
  story.say('E reads, and its process is killed');
  await c.mustEnter('After the only reader was killed,', TAKEOVER_LEASES * LEASE_MS);
}

/** The line of a reader is cut until its lease is over: its release harms none that reads by then. */
async function leaseEnds({ process, story }: Staging) {
  const [p, q] = [process(), process()];
  const [a, b, c] = [p.reader('A', LEASE_MS), q.reader('B', LEASE_MS), q.holder('C', LEASE_MS)];
  await a.enters();
  p.cut();
  await story.pass(UNAWAITED_MS);
  await c.mustEnter('After the lease of the only reader had ended,');
  await c.mustLeave('After the lease of the only reader had ended,');
  await b.enters();
  p.restore();
  await mustNotBeHeld({ story }, a, 'whose lease had ended');
  await c.mustStayOut(
    'A reader released after its lease had ended, and a writer entered while another reader was inside.',
  );
  await b.mustLeave('After another reader released late,');
}

/** Who never entered, and who has left, holds nothing, and has left nothing that only the end of a lease removes. */
async function neverHeld({ process, story, servers }: Staging) {
  const p = process();
  await mustNotBeHeld({ story }, p.reader('A'), 'that never entered');
  const b = p.reader('B');
  await b.enters();
  await b.leaves();
  await mustNotBeHeld({ story }, b, 'that had left');
  await story.pass(SOON_MS);
  const soon = namesIn(servers.contents());
  await story.pass(2 * LONG_LEASE_MS);
  const later = namesIn(servers.contents());
  const left = soon.filter((name) => !later.includes(name));
  if (left.length > 0)
    throw new Fault(`The only reader had left, and ${left.join(', ')} stayed until its lease would have ended.`);
}

async function mustNotBeHeld({ story }: Pick<Staging, 'story'>, { release }: Holder, which: string) {
  const end = await story.ends('release()', release(), STEP_LIMIT_MS);
  if (!isNotHeld(end))
    throw new Fault(`The release() of a reader ${which} ${saidOf(end)}. It must reject with LOCK_NOT_HELD.`);
}

/** A writer waits for a reader when another comes to read: whoever is first, both have their turn. */
async function writerWaits({ process, story }: Staging) {
  const [p, q] = [process(), process()];
  const [a, d, c] = [p.reader('A'), p.reader('D'), q.holder('C')];
  await a.enters();
  const turns = [c, d].map((each, at) => ({ each, asked: story.pass(at * ARRIVE_MS).then(() => each.acquire()) }));
  const taken = Promise.all(
    turns.map(async ({ each, asked }) => {
      await each.mustEnter('With a writer and a reader waiting, after a reader had left,', READS_MS + SOON_MS, asked);
      await each.mustLeave('After a writer and a reader had waited,');
    }),
  );
  // It is awaited below.
  taken.catch(() => {});
  await story.pass(READS_MS);
  await a.mustLeave('While a writer and a reader were waiting,');
  await taken;
}

/** One writes, and of two who want to read one goes. */
async function waits({ process, story }: Staging) {
  const [p, q] = [process(), process()];
  const [a, b, c] = [p.reader('A'), p.reader('B'), q.holder('C')];
  await c.enters();
  const [gone, asked] = [a.acquire(), b.acquire()];
  await story.pass(LEASE_MS / 4);
  a.abort();
  if ((await story.endOf(gone, STEP_LIMIT_MS)).how !== 'rejected')
    throw new Fault('The acquire() of an aborted reader did not reject while a writer was inside.');
  await c.mustLeave('After one of two waiting readers was aborted,');
  await b.mustEnter('After the writer had left,', STEP_LIMIT_MS, asked);
  await b.mustLeave('After the writer had left,');
  await c.mustEnter('After all readers had left or were aborted,');
}
