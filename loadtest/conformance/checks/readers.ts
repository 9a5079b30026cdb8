// The read lock of a lock that has one: many readers or one writer. Who reads is told of its loss and releases as any other holder.

import type { Holder } from '../holder.ts';
import { doesNotApply, Fault, holds, isNotHeld, STEP_LIMIT_MS, saidOf } from '../outcome.ts';
import { LEASE_MS, LONG_LEASE_MS, type LockUnderTest, type Staging } from '../staging.ts';
import { TAKEOVER_LEASES } from './death.ts';
import { untilTold } from './lease.ts';

/** Readers are inside for so long, in leases. */
const LEASES = 3;
/** A server tells the time in seconds and what is over: a lease may begin late in a second, in milliseconds. */
const BEGINS_MS = [0, 970];
/** By then who asks is waiting, in milliseconds. */
const ARRIVE_MS = 50;
/** How long one reads while others wait, and how soon after that each of them has had its turn, in milliseconds. */
const READS_MS = LEASE_MS / 4;
const SOON_MS = 500;
/** What nobody awaits has ended by then, in milliseconds. */
const UNAWAITED_MS = 2 * LEASE_MS;

export async function readers({ stage, survey }: LockUnderTest) {
  if (!(await stage(async ({ process }) => process().hasReaders))) return doesNotApply('It has no read lock.');
  for (const leaseMs of [LEASE_MS, 2 * LEASE_MS])
    for (const beginsMs of BEGINS_MS) await stage((staging) => together(staging, leaseMs, beginsMs));
  await stage(nested);
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
    await untilTold(staging, survey, a, story.now(), 'Redis had started again empty while it was reading');
  });
  return holds('Many readers or one writer are inside; a reader renews, is told of its loss, and leaves nothing.');
}

/** Two read, as long as they like; then one writes. The leases of the two differ. */
async function together({ process, servers, story }: Staging, leaseMs: number, beginsMs: number) {
  await story.pass(beginsMs);
  const [p, q] = [process(), process()];
  const [a, b, d] = [p.reader('A', LEASE_MS), q.reader('B', leaseMs), p.reader('D', LEASE_MS)];
  const c = q.holder('C', LEASE_MS);
  const before = namesIn(servers.contents());
  await a.mustEnter('The lock was free:');
  await b.mustEnter('A was reading:');
  await c.mustStayOut('Two were reading, and a writer entered.');
  await story.pass(LEASES * LEASE_MS);
  await c.mustStayOut(`Two were reading, and a writer entered after ${LEASES} leases.`);
  await b.mustLeave('Two were reading:');
  await c.mustStayOut('One of two readers had left, and a writer entered.');
  await story.pass(LEASES * LEASE_MS);
  await c.mustStayOut(`One of two readers had left, and a writer entered ${LEASES} leases later.`);
  for (const each of [a, b])
    if (each.losses.length > 0 || each.isLost()) throw new Fault('A reader was told of a loss while it was inside.');
  await a.mustLeave('The other reader had left:');
  await c.mustEnter('Both readers had left:');
  await d.mustStayOut('One was writing, and a reader entered.');
  await c.mustLeave('One was writing:');
  await d.mustEnter('The writer had left:');
  await d.mustLeave('The writer had left:');
  await story.pass(UNAWAITED_MS);
  const left = namesIn(servers.contents()).filter((name) => !before.includes(name));
  if (left.length > 0) throw new Fault(`All readers had left, and ${left.join(', ')} stayed.`);
}

/** Without the number of their server. */
const namesIn = (contents: object) => Object.keys(contents).map((name) => name.replace(/^\d+ /, ''));

/** A reader reads again, and holds until it has released as often. */
async function nested({ process, story }: Staging) {
  const p = process();
  const [a, c] = [p.reader('A', LEASE_MS), process().holder('C', LEASE_MS)];
  await a.enters();
  const again = await story.ends('acquire() of A', a.acquire());
  if (again.how !== 'done') return;
  await a.mustLeave('A was reading twice:');
  await c.mustStayOut('A was reading twice and had released once, and a writer entered.');
  await story.pass(LEASES * LEASE_MS);
  await c.mustStayOut(`A was reading twice and had released once, and a writer entered ${LEASES} leases later.`);
  await a.mustLeave('A was reading twice, and released once more:');
  await c.mustEnter('A was reading twice and had released twice:');
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
  await d.mustEnter('One of two readers was killed, and a third came:');
  await d.mustLeave('One of two readers was killed, and a third had come:');
  await c.mustStayOut('One of two readers was killed, and a writer entered while the other was reading.');
  await b.mustLeave('The other reader was killed:');
  await c.mustEnter(`One of two readers was killed ${LEASES} leases ago, and the other had left:`);
  await c.mustLeave('A reader was killed:');
  const alone = process();
  await alone.reader('E', LEASE_MS).enters();
  alone.kill();
  story.say('E reads, and its process is killed');
  await c.mustEnter('The only reader was killed:', TAKEOVER_LEASES * LEASE_MS);
}

/** The line of a reader is cut until its lease is over: its release harms none that reads by then. */
async function leaseEnds({ process, story }: Staging) {
  const [p, q] = [process(), process()];
  const [a, b, c] = [p.reader('A', LEASE_MS), q.reader('B', LEASE_MS), q.holder('C', LEASE_MS)];
  await a.enters();
  p.cut();
  await story.pass(UNAWAITED_MS);
  await c.mustEnter('The lease of the only reader was over:');
  await c.mustLeave('The lease of the only reader was over:');
  await b.enters();
  p.restore();
  await mustNotBeHeld({ story }, a, 'whose lease was over');
  await c.mustStayOut('A reader released after its lease, and a writer entered while another was reading.');
  await b.mustLeave('A reader released after its lease:');
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
    throw new Fault(`release() of a reader ${which} ${saidOf(end)}: it must reject with LOCK_NOT_HELD.`);
}

/** A writer waits for a reader when another comes to read: whoever is first, both have their turn. */
async function writerWaits({ process, story }: Staging) {
  const [p, q] = [process(), process()];
  const [a, d, c] = [p.reader('A'), p.reader('D'), q.holder('C')];
  await a.enters();
  const turns = [c, d].map((each, at) => ({ each, asked: story.pass(at * ARRIVE_MS).then(() => each.acquire()) }));
  const taken = Promise.all(
    turns.map(async ({ each, asked }) => {
      await each.mustEnter('A reader had left, and a writer and a reader were waiting:', READS_MS + SOON_MS, asked);
      await each.mustLeave('A writer and a reader had waited:');
    }),
  );
  // It is awaited below.
  taken.catch(() => {});
  await story.pass(READS_MS);
  await a.mustLeave('A writer and a reader were waiting:');
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
    throw new Fault('Who wanted to read has gone while another was writing, and acquire() did not reject.');
  await c.mustLeave('Two wanted to read, and one has gone:');
  await b.mustEnter('The writer had left:', STEP_LIMIT_MS, asked);
  await b.mustLeave('The writer had left:');
  await c.mustEnter('All who wanted to read had left or gone:');
}
