// The scene of a sequence: two processes, a key, and the current holder in the first process.

import type { Identity } from '../../../simulation/world.ts';
import { asClause, capitalised, formatDuration, listOf } from '../../narration/numbers.ts';
import type { Holder } from '../holder.ts';
import { Fault } from '../outcome.ts';
import { LEASE_MS, LONG_LEASE_MS, type Process, type Staging } from '../staging.ts';
import type { Abilities } from './words.ts';

/** So much of a lease longer than what is left behind takes to end it is until somebody is inside. */
const ENTER_LEASES = 0.5;
/** By when everything in flight has ended, in milliseconds. */
const SETTLE_MS = 300;

/** The processes of a simulation. The same two play one sequence after another, until one of them is killed. */
export function openNodes({ process }: Staging, identity?: Identity) {
  const open = () => process({ ...(identity && { identity }) });
  const first = () => {
    const p = open();
    return { p, timers: p.timers(), wallMs: 0 };
  };
  const nodes = {
    /** What they have in common: a sentence. */
    said: identity ? 'Two processes have the same pid, hostname and seed. ' : '',
    /** The one that the sequence is about: with how many timers it began, and how far its wall clock is ahead. */
    ...first(),
    q: open(),
    open,
    /** Ends the first. Another takes its place. */
    kill() {
      nodes.p.kill();
      Object.assign(nodes, first());
    },
    setWallClock(aheadMs: number) {
      nodes.p.setWallClock(aheadMs - nodes.wallMs);
      nodes.wallMs = aheadMs;
    },
  };
  return nodes;
}

export type Scene = ReturnType<typeof openScene>;

/** The scene of one sequence, with its own key. */
export function openScene(staging: Staging, nodes: ReturnType<typeof openNodes>, key: string, abilities: Abilities) {
  const { story, servers } = staging;
  const leaseMs = abilities.hasRenewal ? LEASE_MS : LONG_LEASE_MS;
  const played: string[] = [];
  let callers = 0;

  const scene = {
    story,
    servers,
    nodes,
    key,
    abilities,
    leaseMs,
    /** The lease of the other process. */
    otherLeaseMs: leaseMs,
    holder: undefined as Holder | undefined,
    /** How often it is inside. */
    depth: 0,
    /** Who has left the lock, or lost it. */
    former: undefined as Holder | undefined,
    /** How many leases have been left to end by themselves since somebody entered: of who was killed, in a queue at his turn, or could not release. */
    leftBehind: 0,
    /** Within so long a lock is free that nobody holds: what a failed command has left ends with its lease. */
    freeMs: () => (Math.max(scene.leftBehind, 1) + ENTER_LEASES) * Math.max(leaseMs, scene.otherLeaseMs),

    /** A step of the sequence has been taken: a clause in the past tense. */
    tell(clause: string) {
      played.push(clause);
      story.say(clause);
    },
    /** What happened so far, as the beginning of a sentence. */
    so: () => nodes.said + (played.length === 0 ? '' : `${capitalised(listOf(played))}. Then `),
    /** Somebody new of a process. */
    caller(process: Process = nodes.p, timing: { retryDelayMs?: number } = {}) {
      const isOther = process === nodes.q;
      return process.holder(letter(callers++), isOther ? scene.otherLeaseMs : leaseMs, key, timing);
    },
    fault: (clause: string) => new Fault(scene.so() + (played.length === 0 ? capitalised(clause) : clause)),
    /** Enters within the time in which a lock becomes free. */
    async mustEnter(who: Holder, why = 'nobody was inside', asked = who.acquire()) {
      const end = await story.ends(`acquire() of ${who.name}`, asked, scene.freeMs());
      if (end.how === 'rejected')
        throw scene.fault(`${why}, and acquire() of ${who.name} rejected: ${asClause(end.error.message)}.`);
      if (end.how === 'pending')
        throw scene.fault(`${why}, and ${who.name} did not enter within ${formatDuration(scene.freeMs())}.`);
      scene.leftBehind = 0;
    },
    mustLeave: (who: Holder) => who.mustLeave(scene.so().trimEnd()),
    async mustStayOut(who: Holder, clause: string) {
      if (!(await who.isKeptOut())) throw scene.fault(clause);
    },
    /** A call that failed on purpose: whoever counts as inside leaves, whoever still waits goes. */
    async giveUp(who: Holder, asked: Promise<void>) {
      const end = await story.endOf(asked, scene.freeMs());
      if (end.how === 'pending') who.abort();
      if (end.how === 'done') await scene.mustLeave(who);
      await story.endOf(asked, SETTLE_MS);
    },
    /** The holder is no longer inside, and may still release. */
    hasLeft() {
      scene.former = scene.holder;
      scene.holder = undefined;
      scene.depth = 0;
    },
    settle: () => story.pass(SETTLE_MS),
  };
  return scene;
}

/** A to Z, then A2. */
const letter = (at: number) =>
  String.fromCharCode('A'.charCodeAt(0) + (at % 26)) + (at < 26 ? '' : Math.ceil((at + 1) / 26));
