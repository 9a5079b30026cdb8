// Beyond · redlock
// Problem: one Redis decides alone, and a replica that is promoted may never have received the lock.
// Change:  several independent masters vote; a holder needs the votes of a majority before its lease runs out.
// Leaves:  a master that restarts empty votes twice, and no vote stops a write that arrives late.
// Source:  redis.io, Distributed Locks with Redis. Critique: Kleppmann, How to do distributed locking, 2016.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { readScript } from '../drivers/script.ts';
import { vote } from '../drivers/vote.ts';
import { type CreateLock, LockNotHeldError, NoMajorityError } from '../lock.ts';

const acquireReentrant = readScript('acquire-reentrant');
const renewIfOwner = readScript('renew-if-owner');
const releaseReentrant = readScript('release-reentrant');

/** How long to wait for a master's vote, in milliseconds: a tenth of the lease, but never longer than this. */
const VOTE_LIMIT_MS = 50;
/** Release waits longer, up to half a lease: only the votes can say whether the lock was still held. */
const RELEASE_LIMIT_MS = 500;
/** How many times in a row the majority may not reply before acquire gives up. */
const SILENCES = 3;

export const createLock: CreateLock = (options) => {
  const { masters, key, ownerToken, leaseMs, renewEveryMs, retryDelayMs, onLeaseLost } = options;
  const quorum = Math.floor(masters.length / 2) + 1;
  const othersAtMost = masters.length - quorum;
  const voteLimitMs = Math.min(VOTE_LIMIT_MS, leaseMs / 10);
  const lost = new AbortController();
  let holdCount = 0;
  let safeUntil = 0;
  /** Masters that did not reply when a vote was returned: they may still hold it. */
  const keeping = new Set<Redis>();
  /** Why a master failed to vote. */
  let whyFailed: unknown;
  let watchdog: NodeJS.Timeout | undefined;
  let expiry: NodeJS.Timeout | undefined;

  const renewVote = async (master: Redis) => (await renewIfOwner(master, [key], [ownerToken, leaseMs])) === 1;

  async function giveBack(master: Redis): Promise<boolean> {
    const left = await releaseReentrant(master, [key], [ownerToken, leaseMs]);
    return left > 0 && keeping.delete(master) ? giveBack(master) : left !== -1;
  }

  async function acquire(signal?: AbortSignal) {
    let silences = 0;
    // Nested holds are counted here: a master votes for the holder once, however often it acquires.
    while (holdCount === 0) {
      const election = await elect();
      if (election === 'won') break;
      silences = election === 'silence' ? silences + 1 : 0;
      if (silences === SILENCES) throw new NoMajorityError(key, { cause: whyFailed });
      // A random delay, so rivals that split the votes do not retry together. It grows with the number of masters.
      await sleep(2 * retryDelayMs * masters.length * Math.random(), undefined, { signal });
    }
    holdCount += 1;
  }

  /** `lost`: another holder has the votes, or they came too late. `silence`: too few masters replied. */
  async function elect(): Promise<'won' | 'lost' | 'silence'> {
    const askedAt = performance.now();
    const voters = new Set(masters);
    const { yes, no, why } = await vote(masters, quorum, voteLimitMs, async (master) => {
      const holds = await acquireReentrant(master, [key], [ownerToken, leaseMs]);
      if (holds === 0) voters.delete(master);
      return holds > 0;
    });
    if (yes >= quorum && performance.now() < endOf(askedAt)) {
      holdUntil(endOf(askedAt));
      watchdog = setInterval(renew, renewEveryMs);
      return 'won';
    }
    // Including masters that have not replied: a late vote must not remain.
    for (const master of voters) giveBack(master).catch(() => keeping.add(master));
    whyFailed = why;
    return yes + no < quorum ? 'silence' : 'lost';
  }

  /** When votes requested at `askedAt` stop being safe: 1% of the lease and 2 ms are subtracted for clock drift. */
  function endOf(askedAt: number) {
    return askedAt + leaseMs - (leaseMs * 0.01 + 2);
  }

  function holdUntil(end: number) {
    safeUntil = end;
    clearTimeout(expiry);
    expiry = setTimeout(lose, end - performance.now());
  }

  async function renew() {
    const askedAt = performance.now();
    const { yes, no } = await vote(masters, quorum, voteLimitMs, renewVote);
    if (holdCount === 0) return;
    if (no > othersAtMost) lose();
    // Without replies from a majority nothing is known: the remaining time keeps running down.
    else if (yes >= quorum) holdUntil(endOf(askedAt));
  }

  function lose() {
    stopWatching();
    onLeaseLost();
    lost.abort(new LockNotHeldError(key));
  }

  function stopWatching() {
    holdCount = 0;
    clearInterval(watchdog);
    clearTimeout(expiry);
  }

  async function release() {
    holdCount -= 1;
    if (holdCount > 0) return;
    stopWatching();
    const { yes, no, why } = await vote(masters, quorum, Math.min(RELEASE_LIMIT_MS, leaseMs / 2), giveBack);
    if (yes >= quorum) return;
    throw no > othersAtMost ? new LockNotHeldError(key) : new NoMajorityError(key, { cause: why });
  }

  return {
    acquire,
    release,
    get lost() {
      // The clock decides: after a pause of the process, the timer may not have run yet.
      if (holdCount > 0 && performance.now() > safeUntil) lose();
      return lost.signal;
    },
  };
};
