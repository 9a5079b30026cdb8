// Beyond · redlock
// Problem: one Redis decides alone, and a replica that takes its place may never have heard of the lock.
// Change:  several masters that know nothing of each other vote; a holder has a majority of their votes, in time.
// Leaves:  a master that restarts empty votes twice, and a write that is late on its way is not stopped by any vote.
// Source:  redis.io, Distributed Locks with Redis. The doubts: Kleppmann, How to do distributed locking, 2016.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { readScript } from '../drivers/script.ts';
import { vote } from '../drivers/vote.ts';
import { type CreateLock, LockNotHeldError, NoMajorityError } from '../lock.ts';

const acquireReentrant = readScript('acquire-reentrant');
const renewIfOwner = readScript('renew-if-owner');
const releaseReentrant = readScript('release-reentrant');

/** How long a master's vote is waited for, in milliseconds: a tenth of the lease, and never longer than this. */
const VOTE_LIMIT_MS = 50;
/** A lock that is given up is worth a longer wait, half a lease at most: nobody else can say whether it was held. */
const RELEASE_LIMIT_MS = 500;
/** How often in a row a majority may be silent before acquire gives up. */
const SILENCES = 3;

export const createLock: CreateLock = (options) => {
  const { masters, key, ownerToken, leaseMs, renewEveryMs, retryDelayMs, onLeaseLost } = options;
  const quorum = Math.floor(masters.length / 2) + 1;
  const othersAtMost = masters.length - quorum;
  const voteLimitMs = Math.min(VOTE_LIMIT_MS, leaseMs / 10);
  const lost = new AbortController();
  let holdCount = 0;
  let safeUntil = 0;
  /** Masters that did not answer when a vote was given back: they may have kept it. */
  const keeping = new Set<Redis>();
  /** Why a master could not be asked. */
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
    // Nested holds are counted here: a master votes for the holder, however often it holds.
    while (holdCount === 0) {
      const election = await elect();
      if (election === 'won') break;
      silences = election === 'silence' ? silences + 1 : 0;
      if (silences === SILENCES) throw new NoMajorityError(key, { cause: whyFailed });
      // At random, so that rivals who split the votes do not come back together; and many masters are asked as often as one.
      await sleep(2 * retryDelayMs * masters.length * Math.random(), undefined, { signal });
    }
    holdCount += 1;
  }

  /** `lost`: others have the votes, or the votes came too late. `silence`: too few masters answered. */
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
    // Also of a master that has not answered: a vote that comes late must not stay.
    for (const master of voters) giveBack(master).catch(() => keeping.add(master));
    whyFailed = why;
    return yes + no < quorum ? 'silence' : 'lost';
  }

  /** Until when votes are safe that were asked for at `askedAt`: clocks differ, so 1% of the lease and 2 ms are left out. */
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
    // Without a majority that answers there is no news, and the time goes on that is left.
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
      // The clock decides: after a pause of the process no timer may have run yet.
      if (holdCount > 0 && performance.now() > safeUntil) lose();
      return lost.signal;
    },
  };
};
