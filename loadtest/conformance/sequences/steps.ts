// Plays each operation of a sequence, and returns it as a clause in the past tense.

import { formatDuration } from '../../narration/numbers.ts';
import type { Failure } from '../held.ts';
import type { Holder } from '../holder.ts';
import { saidOf } from '../outcome.ts';
import { LEASE_MS, type Process } from '../staging.ts';
import { leavesNothing, stays, wasTold } from './questions.ts';
import type { Scene } from './scene.ts';
import type { Operation } from './words.ts';

const HOLD_LEASES = 3;
/** For how long a waiter is silent that then comes back. */
const SILENT_LEASES = 2;
const LONG_HOLD_LEASES = 20;
/** By when a caller is waiting, and a process that was cut off has reconnected, in milliseconds. */
const WAIT_MS = 50;
const TEN_MINUTES_MS = 600_000;
/** The retry delay of a waiter that waits for that long. */
const SELDOM = { retryDelayMs: 100 };
const DAY_MS = 86_400_000;
const CLOCK_MS = 3_600_000;
const OTHER_LEASE = 4;

/** The current holder in the process: the rules guarantee that there is one. */
const insideOf = ({ holder }: Scene) => holder as Holder;

type Step = (scene: Scene) => Promise<string>;

export const steps: Record<Operation, Step> = {
  async acquire(scene) {
    const next = scene.caller();
    await scene.mustEnter(next);
    scene.holder = next;
    scene.depth = 1;
    return `${next.name} acquired`;
  },
  async nest(scene) {
    const holder = insideOf(scene);
    await scene.mustEnter(holder, 'it acquired again');
    scene.depth += 1;
    return `${holder.name} acquired again`;
  },
  async release(scene) {
    const { name } = insideOf(scene);
    await scene.mustLeave(insideOf(scene));
    scene.depth -= 1;
    if (scene.depth === 0) scene.hasLeft();
    return `${name} released`;
  },
  async 'release failed'(scene) {
    const holder = insideOf(scene);
    const held = scene.nodes.p.hold();
    const asked = holder.release();
    await held.fail('error', `the release() of ${holder.name}`);
    const end = await scene.story.endOf(asked, scene.freeMs());
    scene.hasLeft();
    scene.leftBehind += 1;
    if (end.how === 'pending')
      throw scene.fault(
        `a command of the release() of ${holder.name} failed with an error, and the call did not settle.`,
      );
    return `the release() of ${holder.name} failed with an error`;
  },
  // Whether it rejects is for contract-not-held.
  async 'release again'(scene) {
    const former = scene.former as Holder;
    scene.former = undefined;
    const end = await former.leaves();
    if (end.how === 'pending') throw scene.fault(`the release() of ${former.name} ${saidOf(end)}.`);
    return `${former.name}, which no longer held the lock, released`;
  },
  hold: holdFor(HOLD_LEASES),
  'hold long': holdFor(LONG_HOLD_LEASES),
  async lose(scene) {
    const holder = insideOf(scene);
    const { name } = holder;
    scene.servers.endLease(scene.key);
    const other = await passThrough(scene, `the lease of ${name} ended`);
    // By now who renews has heard of it.
    await scene.story.pass(scene.leaseMs);
    wasTold(scene, holder, other.name);
    scene.hasLeft();
    return `${name} lost the lock to ${other.name}`;
  },
  async abort(scene) {
    const next = scene.caller();
    const held = scene.holder ? undefined : scene.nodes.p.hold();
    const asked = next.acquire();
    await (held ? held.comes() : scene.story.pass(WAIT_MS));
    next.abort();
    await scene.story.pass(1);
    held?.letGo();
    await scene.giveUp(next, asked);
    return `the client of ${next.name} disconnected while ${held ? 'its command was on the way' : 'it waited'}`;
  },
  async refuse(scene) {
    const held = scene.nodes.p.hold();
    if (scene.holder) {
      await held.fail('error', scene.holder.name);
      // The next renewal comes in time.
      await scene.story.pass(scene.leaseMs / 2);
      return `a renewal of ${scene.holder.name} failed with an error`;
    }
    const next = scene.caller();
    const asked = next.acquire();
    await held.fail('error', `the acquire() of ${next.name}`);
    await scene.giveUp(next, asked);
    return `the acquire() of ${next.name} failed with an error`;
  },
  async disconnect(scene) {
    const { p } = scene.nodes;
    if (scene.holder) {
      p.cut('reset');
      await scene.story.pass(1);
      p.restore();
      await scene.story.pass(LEASE_MS / 2);
      return `the connection of ${scene.holder.name} broke and was restored`;
    }
    const next = scene.caller();
    const held = p.hold();
    const asked = next.acquire();
    await held.fail('reply', `the acquire() of ${next.name}`);
    await scene.giveUp(next, asked);
    return `the reply to ${next.name} was lost`;
  },
  async crash(scene) {
    const { holder } = scene;
    scene.leftBehind += 1;
    scene.holder = undefined;
    scene.former = undefined;
    scene.depth = 0;
    if (holder) {
      scene.nodes.kill();
      return `the process of ${holder.name} was killed`;
    }
    const next = scene.caller();
    const held = scene.nodes.p.hold();
    void next.acquire();
    await held.comes();
    held.letGo();
    scene.nodes.kill();
    return `the process of ${next.name} was killed while its command was on the way`;
  },
  'first waiter killed': withWaiters('first', 'killed'),
  'second waiter killed': withWaiters('second', 'killed'),
  'first waiter paused': withWaiters('first', 'paused'),
  'second waiter paused': withWaiters('second', 'paused'),
  'first waiter cut off': withWaiters('first', 'cut off'),
  'second waiter cut off': withWaiters('second', 'cut off'),
  'waiter refused': failWaiter('error', 'was answered by an error'),
  'waiter unanswered': failWaiter('reply', 'got no reply'),
  async 'lose to waiters'(scene) {
    const holder = insideOf(scene);
    const { name } = holder;
    const queue = await lineUp(scene, [scene.nodes.q, scene.nodes.p, scene.nodes.q]);
    scene.servers.endLease(scene.key);
    await serve(scene, queue, `three waiters waited, the lease of ${name} ended`);
    await scene.story.pass(scene.leaseMs);
    wasTold(scene, holder, 'three waiters');
    scene.hasLeft();
    return `${name} lost the lock to three waiters`;
  },
  async 'wait ten minutes'(scene) {
    const queue = await lineUp(scene, [scene.nodes.q], SELDOM);
    await scene.story.pass(TEN_MINUTES_MS);
    const name = queue[0]?.waiter.name;
    await leaves(scene);
    await serve(scene, queue, `${name} had waited for ten minutes, the holder released`);
    return `${name} waited for ten minutes, entered and released`;
  },
  async 'quiet day'(scene) {
    await leavesNothing(scene);
    await scene.story.pass(DAY_MS);
    return 'a day passed';
  },
  async 'clock forward'({ nodes }) {
    nodes.setWallClock(CLOCK_MS);
    return 'its wall clock was set forward by an hour';
  },
  async 'clock back'({ nodes }) {
    nodes.setWallClock(-CLOCK_MS);
    return 'its wall clock was set back by an hour';
  },
  'longer lease there': otherLease(OTHER_LEASE),
  'shorter lease there': otherLease(1 / OTHER_LEASE),
  async 'minority reached'(scene) {
    const { p } = scene.nodes;
    const [, , ...most] = p.lines;
    for (const line of most) line.cut('silent');
    let said: string;
    if (scene.holder) {
      const { name } = scene.holder;
      const other = await passThrough(scene, `${name} reached two of ${p.lines.length} masters`);
      if (scene.holder.hasLost() && !scene.holder.isLost())
        throw scene.fault(`${other.name} entered, but ${name} was not told that it had lost the lock.`);
      said = `${name} reached two of ${p.lines.length} masters and lost the lock to ${other.name}`;
    } else {
      const next = scene.caller();
      await scene.mustStayOut(next, `${next.name} reached two of ${p.lines.length} masters and entered.`);
      await passThrough(scene, `${next.name} reached two of ${p.lines.length} masters`);
      said = `${next.name} reached only two of ${p.lines.length} masters`;
    }
    for (const line of most) line.restore();
    await scene.story.pass(scene.leaseMs);
    scene.hasLeft();
    return said;
  },
  async 'other majorities'(scene) {
    const { p, q } = scene.nodes;
    const cut = [...p.lines.slice(0, 2), ...q.lines.slice(-2)];
    for (const line of cut) line.cut('silent');
    const holder = scene.holder ?? scene.caller();
    if (scene.holder === undefined) await scene.mustEnter(holder, 'it reached three masters');
    await stays(scene, holder);
    if (scene.holder === undefined) await scene.mustLeave(holder);
    for (const line of cut) line.restore();
    return `${holder.name} reached three masters, and the other process three others`;
  },
};

function holdFor(leases: number): Step {
  return async (scene) => {
    await scene.story.pass(leases * scene.leaseMs);
    return `${insideOf(scene).name} held for ${leases} leases`;
  };
}

function otherLease(factor: number): Step {
  return async (scene) => {
    scene.otherLeaseMs = factor * scene.leaseMs;
    return `the lease of the other process became ${formatDuration(scene.otherLeaseMs)}`;
  };
}

/** A holder in the other process enters and leaves. */
async function passThrough(scene: Scene, why: string): Promise<Holder> {
  const other = scene.caller(scene.nodes.q);
  await scene.mustEnter(other, why);
  await scene.mustLeave(other);
  return other;
}

interface Waiter {
  waiter: Holder;
  asked: Promise<void>;
}

/** One waiter of each process tries, one after another. */
async function lineUp(scene: Scene, processes: Process[], timing = {}): Promise<Waiter[]> {
  const queue: Waiter[] = [];
  for (const process of processes) {
    const waiter = scene.caller(process, timing);
    queue.push({ waiter, asked: waiter.acquire() });
    await scene.story.pass(WAIT_MS);
  }
  return queue;
}

/** The current holder releases. */
async function leaves(scene: Scene) {
  const holder = insideOf(scene);
  for (; scene.depth > 0; scene.depth -= 1) await scene.mustLeave(holder);
  scene.hasLeft();
}

/** Each of these waiters enters and leaves, in any order. */
async function serve(scene: Scene, queue: Waiter[], why: string) {
  await Promise.all(
    queue.map(async ({ waiter, asked }) => {
      await scene.mustEnter(waiter, why, asked);
      await scene.mustLeave(waiter);
    }),
  );
}

/** A caller waits for the other process, which releases. Then the next command of the waiter fails. */
function failWaiter(how: Failure, said: string): Step {
  return async (scene) => {
    const { p, q } = scene.nodes;
    const other = scene.caller(q);
    await scene.mustEnter(other);
    const [{ waiter, asked }] = (await lineUp(scene, [p])) as [Waiter];
    const held = p.hold();
    const leaving = scene.mustLeave(other);
    await held.fail(how, waiter.name);
    await leaving;
    await scene.giveUp(waiter, asked);
    return `${waiter.name} waited, ${other.name} released, and the next command of ${waiter.name} ${said}`;
  };
}

/** One waiter is killed, paused or cut off, and the others must still have their turn. In the end it is restored, unless it is dead. */
function withWaiters(which: 'first' | 'second', harm: 'killed' | 'paused' | 'cut off'): Step {
  return async (scene) => {
    const { p, q, open } = scene.nodes;
    const ill = open();
    const queue = await lineUp(scene, which === 'first' ? [ill, q] : [q, ill, p]);
    const [victim] = queue.splice(which === 'first' ? 0 : 1, 1) as [Waiter];
    if (harm === 'killed') ill.kill();
    else if (harm === 'paused') ill.stop();
    else ill.cut();
    const { name } = victim.waiter;
    await leaves(scene);
    await serve(scene, queue, `${name} was ${harm} while it waited, the holder released`);
    if (harm !== 'killed') await comesBack(scene, ill, victim, harm);
    victim.waiter.abort();
    await scene.settle();
    void victim.asked.then(victim.waiter.release).catch(() => {});
    await scene.settle();
    return `${name} was ${harm} while it waited as the ${which}, and the others had their turn`;
  };
}

/** After two leases of silence its process goes on. It must not enter while another is inside. */
async function comesBack(scene: Scene, ill: Process, { waiter, asked }: Waiter, harm: string) {
  const was = `${waiter.name} was ${harm} while it waited`;
  await scene.story.pass(SILENT_LEASES * scene.leaseMs);
  const inside = scene.caller(scene.nodes.q);
  await scene.mustEnter(inside, was);
  let hasEntered = false;
  void asked.then(() => (hasEntered = true)).catch(() => {});
  ill.resume();
  ill.restore();
  await scene.story.pass(scene.leaseMs / 2);
  if (hasEntered) throw scene.fault(`${was}, and came back: it entered while ${inside.name} was inside.`);
  await scene.mustLeave(inside);
}
