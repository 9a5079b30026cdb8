// What one process does to a lock, in every order: operations, the sequences of them that make sense, and what must be so after each.
//
// A sequence is a word over the operations. Before each, nobody is inside or one holder of the process is, once or nested: that
// decides which operations may follow. After the last one the same questions are asked of every lock: is who should be inside
// alone, and does it stay so for three leases; do a second caller of the process and another process get in when it has left; is
// anything left. No lock may answer one of them otherwise after some sequence than it does after none.

import { capitalised, listOf } from '../narration/numbers.ts';
import type { Holder } from './holder.ts';
import { Fault, saidOf } from './outcome.ts';
import { LEASE_MS, LONG_LEASE_MS, type LockUnderTest, type Process, type Staging } from './staging.ts';

/** In the order in which the shortest counterexample is looked for. */
export const operations = [
  'acquire',
  'nest',
  'release',
  'release again',
  'hold',
  'lose',
  'abort',
  'refuse',
  'disconnect',
] as const;
export type Operation = (typeof operations)[number];

/** What a lock does decides which operations it has. */
export interface Abilities {
  hasReentry: boolean;
  hasRenewal: boolean;
}

export const abilitiesOf = ({ promises, survey }: LockUnderTest): Abilities => ({
  hasReentry: promises.reentry === true,
  hasRenewal: survey.renewal.length > 0,
});

const MOST_NESTED = 2;

/** Where a sequence has led: how often its holder is inside, and whether there is one that has left or lost the lock. */
interface Standing {
  depth: number;
  hasFormer: boolean;
}

function canFollow(operation: Operation, { depth, hasFormer }: Standing, { hasReentry, hasRenewal }: Abilities) {
  switch (operation) {
    case 'acquire':
      return depth === 0;
    case 'nest':
      return hasReentry && depth > 0 && depth < MOST_NESTED;
    case 'release':
    case 'lose':
      return depth > 0;
    case 'hold':
      return hasRenewal && depth > 0;
    case 'release again':
      return hasFormer;
    // A holder that sends nothing has no command that could be refused.
    case 'refuse':
      return hasRenewal || depth === 0;
    default:
      return true;
  }
}

function after(operation: Operation, { depth, hasFormer }: Standing): Standing {
  if (operation === 'acquire' || operation === 'nest') return { depth: depth + 1, hasFormer };
  if (operation === 'release') return { depth: depth - 1, hasFormer: hasFormer || depth === 1 };
  if (operation === 'lose') return { depth: 0, hasFormer: true };
  return { depth, hasFormer: hasFormer && operation !== 'release again' };
}

/** The part of a word that makes sense: an operation that can't follow is left out. */
export function sensible(word: readonly Operation[], abilities: Abilities): Operation[] {
  let standing: Standing = { depth: 0, hasFormer: false };
  return word.filter((operation) => {
    if (!canFollow(operation, standing, abilities)) return false;
    standing = after(operation, standing);
    return true;
  });
}

/** Every sequence of up to so many operations, the shortest first. */
export function sequencesUpTo(length: number, abilities: Abilities): Operation[][] {
  const all: Operation[][] = [];
  let longest: { word: Operation[]; standing: Standing }[] = [{ word: [], standing: { depth: 0, hasFormer: false } }];
  for (let at = 0; at < length; at += 1) {
    longest = longest.flatMap(({ word, standing }) =>
      operations
        .filter((operation) => canFollow(operation, standing, abilities))
        .map((operation) => ({ word: [...word, operation], standing: after(operation, standing) })),
    );
    all.push(...longest.map(({ word }) => word));
  }
  return all;
}

const HOLD_LEASES = 3;
/** Within so many leases a lock is free that nobody holds: what a failed command has left ends with its lease. */
const FREE_LEASES = 1.5;
/** How long a client waits before it goes, and what is on its way takes to end, in milliseconds. */
const WAIT_MS = 50;
const SETTLE_MS = 300;

/** Plays one sequence on a key of its own, and asks what must be so after it. Rejects with a Fault when it is not. */
export async function playSequence(
  staging: Staging,
  { p, q, key, abilities }: { p: Process; q: Process; key: string; abilities: Abilities },
  word: readonly Operation[],
) {
  const { story, servers } = staging;
  const leaseMs = abilities.hasRenewal ? LEASE_MS : LONG_LEASE_MS;
  const freeMs = FREE_LEASES * leaseMs;
  const timers = p.timers();
  let callers = 0;
  const caller = (process = p) => process.holder(process === q ? 'B' : nameOf(callers++), leaseMs, key);
  const played: string[] = [];
  let holder: Holder | undefined;
  let depth = 0;
  let former: Holder | undefined;

  /** What had happened, as the beginning of a sentence. */
  const so = () => `${capitalised(listOf(played))}. Then`;

  async function enter(next: Holder) {
    await next.mustEnter(so(), freeMs);
    holder = next;
    depth = 1;
  }
  /** A call that failed on purpose: whoever counts as inside leaves, whoever still waits goes. */
  async function giveUp(who: Holder, asked: Promise<void>) {
    const end = await story.endOf(asked, freeMs);
    if (end.how === 'pending') who.abort();
    if (end.how === 'done') await who.mustLeave(so());
    await story.endOf(asked, SETTLE_MS);
  }

  const play: Record<Operation, () => Promise<string>> = {
    async acquire() {
      const next = caller();
      await enter(next);
      return `${next.name} acquired`;
    },
    async nest() {
      const { name } = holder as Holder;
      await (holder as Holder).mustEnter(so(), freeMs);
      depth += 1;
      return `${name} acquired again`;
    },
    async release() {
      const { name } = holder as Holder;
      await (holder as Holder).mustLeave(so());
      depth -= 1;
      if (depth > 0) return `${name} released`;
      former = holder;
      holder = undefined;
      return `${name} released`;
    },
    // Whether it rejects is for contract-not-held.
    async 'release again'() {
      const { name } = former as Holder;
      const end = await (former as Holder).leaves();
      if (end.how === 'pending') throw new Fault(`${so()} release() of ${name} ${saidOf(end)}.`);
      former = undefined;
      return `${name}, which no longer held, released`;
    },
    async hold() {
      await story.pass(HOLD_LEASES * leaseMs);
      return `${holder?.name ?? 'nobody'} held for ${HOLD_LEASES} leases`;
    },
    async lose() {
      const { name } = holder as Holder;
      servers.endLease(key);
      const b = caller(q);
      await b.mustEnter(`${so()} the lease of ${name} ended, and`, freeMs);
      await b.mustLeave(`${so()} ${name} lost the lock to B, and`);
      // By now who renews has heard of it.
      await story.pass(leaseMs);
      former = holder;
      holder = undefined;
      depth = 0;
      return `${name} lost the lock`;
    },
    async abort() {
      const next = caller();
      const isWaiting = holder !== undefined;
      const held = isWaiting ? undefined : p.hold();
      const asked = next.acquire();
      await (isWaiting ? story.pass(WAIT_MS) : held?.comes());
      next.abort();
      await story.pass(1);
      held?.letGo();
      await giveUp(next, asked);
      return `the client of ${next.name} went ${isWaiting ? 'while it waited' : 'while its command was on its way'}`;
    },
    async refuse() {
      const held = p.hold();
      if (holder !== undefined) {
        await held.fail('error', `${holder.name}`);
        // The next renewal comes in time.
        await story.pass(leaseMs / 2);
        return `a renewal of ${holder.name} was answered by an error`;
      }
      const next = caller();
      const asked = next.acquire();
      await held.fail('error', `the acquire() of ${next.name}`);
      await giveUp(next, asked);
      return `acquire() of ${next.name} was answered by an error`;
    },
    async disconnect() {
      if (holder !== undefined) {
        await reconnect(story, p);
        return `the connection of ${holder.name} broke, and came back`;
      }
      const next = caller();
      const held = p.hold();
      const asked = next.acquire();
      await held.fail('reply', `the acquire() of ${next.name}`);
      await giveUp(next, asked);
      return `the reply to ${next.name} was lost`;
    },
  };

  for (const operation of word) {
    played.push(await play[operation]());
    story.say(played.at(-1) ?? '');
  }

  if (holder !== undefined) await stays(holder);
  for (; depth > 0; depth -= 1) await holder?.mustLeave(so());
  const next = caller();
  await next.mustEnter(`${so()} the lock was free, and`, freeMs);
  await stays(next);
  await next.mustLeave(so());
  for (const process of [q, p]) {
    const each = caller(process);
    await each.mustEnter(`${so()} the lock was free, and`, freeMs);
    await each.mustLeave(so());
  }
  await leavesNothing();

  /** A holder is alone, now and, when it renews, for three leases more. */
  async function stays(inside: Holder) {
    const isAlone = async (when: string) => {
      for (const rival of [caller(), caller(q)]) {
        const whose = rival.name === 'B' ? '' : ', in the same process,';
        await rival.mustStayOut(`${so()} ${rival.name}${whose} entered while ${inside.name} was inside${when}.`);
      }
    };
    await isAlone('');
    if (!abilities.hasRenewal) return;
    await story.pass(HOLD_LEASES * leaseMs);
    await isAlone(`: the lease of ${inside.name} had not been renewed`);
  }

  async function leavesNothing() {
    await story.pass(SETTLE_MS);
    const from = story.now();
    await story.pass(2 * leaseMs);
    const sent = p.sentSince(from).length;
    if (sent > 0) throw new Fault(`${so()} everybody had left, and the process sent ${sent} commands in two leases.`);
    const more = p.timers() - timers;
    if (more > 0) throw new Fault(`${so()} everybody had left, and ${more} timers of the lock still ran.`);
  }
}

/** A, C, D and so on: B is in the other process. */
const nameOf = (at: number) => String.fromCharCode('A'.charCodeAt(0) + at + (at > 0 ? 1 : 0));

async function reconnect(story: Staging['story'], p: Process) {
  p.cut('reset');
  await story.pass(1);
  p.restore();
  await story.pass(LEASE_MS / 2);
}
