// Beyond · redlock
// Problem: one Redis decides alone, and a replica that takes its place may never have heard of the lock.
// Change:  several masters that know nothing of each other vote; whoever has a majority in time holds the lock.
// Leaves:  a master that restarts empty votes twice, and a paused process wakes up believing it still holds.
// Source:  redis.io, Distributed Locks with Redis. The doubts: Kleppmann, How to do distributed locking, 2016.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { type CreateLock, LockNotHeldError, NoMajorityError } from '../lock.ts';
import { readScript } from '../script.ts';

const acquireReentrant = readScript('acquire-reentrant');
const renewIfOwner = readScript('renew-if-owner');
const releaseReentrant = readScript('release-reentrant');

/** How long a master is waited for, in milliseconds: a small part of the lease, and never longer than this. */
const MASTER_LIMIT_MS = 50;

export const createLock: CreateLock = ({ masters, key, ownerToken, leaseMs, retryDelayMs, onLeaseLost }) => {
  const quorum = Math.floor(masters.length / 2) + 1;
  const othersAtMost = masters.length - quorum;
  const lost = new AbortController();
  let holdCount = 0;
  let watchdog: NodeJS.Timeout | undefined;
  let expiry: NodeJS.Timeout | undefined;

  const takeVote = async (master: Redis) => (await acquireReentrant(master, [key], [ownerToken, leaseMs])) > 0;
  const renewVote = async (master: Redis) => (await renewIfOwner(master, [key], [ownerToken, leaseMs])) === 1;
  const giveBack = async (master: Redis) => (await releaseReentrant(master, [key], [ownerToken, leaseMs])) !== -1;

  async function acquire(signal?: AbortSignal) {
    // Nested holds are counted here: a master votes for the holder, however often it holds.
    while (holdCount === 0 && !(await isElected())) {
      // At random, so that rivals who split the votes do not come back together.
      await sleep(2 * retryDelayMs * Math.random(), undefined, { signal });
    }
    holdCount += 1;
  }

  /** Resolves with false when others have the votes or the votes came too late. Rejects when too few masters answer. */
  async function isElected() {
    const askedAt = performance.now();
    const { yes, no } = await ask(takeVote);
    if (yes >= quorum && timeLeftMs(askedAt) > 0) {
      expiry = setTimeout(lose, timeLeftMs(askedAt));
      watchdog = setInterval(renew, leaseMs / 3);
      return true;
    }
    // All are told, those that have not answered as well: a vote that comes late must not stay.
    void ask(giveBack);
    if (yes + no < quorum && no <= othersAtMost) throw new NoMajorityError(key);
    return false;
  }

  /** How long a lease is safe to use that was asked for at `askedAt`. Clocks differ: 1% of the lease and 2 ms are not counted on. */
  function timeLeftMs(askedAt: number) {
    return askedAt + leaseMs - (leaseMs * 0.01 + 2) - performance.now();
  }

  /**
   * Asks all masters at once. Resolves when their answers decide, or the time is over, with how many have said yes and no.
   * Never rejects.
   */
  function ask(question: (master: Redis) => Promise<boolean>): Promise<{ yes: number; no: number }> {
    return new Promise((resolve) => {
      const votes = { yes: 0, no: 0, failed: 0 };
      // An answer that is there counts: a process that was busy reads it first.
      const timer = setTimeout(() => setImmediate(resolve, votes), Math.min(MASTER_LIMIT_MS, leaseMs / 10));
      const count = (vote: keyof typeof votes) => {
        votes[vote] += 1;
        const isDecided = votes.yes >= quorum || votes.no > othersAtMost || votes.failed > othersAtMost;
        if (!isDecided && votes.yes + votes.no + votes.failed < masters.length) return;
        clearTimeout(timer);
        resolve(votes);
      };
      for (const master of masters) {
        question(master).then(
          (isYes) => count(isYes ? 'yes' : 'no'),
          () => count('failed'),
        );
      }
    });
  }

  async function renew() {
    const askedAt = performance.now();
    const { yes, no } = await ask(renewVote);
    if (holdCount === 0) return;
    if (no > othersAtMost) return lose();
    // Without a majority that answers there is no news, and the time goes on that is left.
    if (yes < quorum) return;
    clearTimeout(expiry);
    expiry = setTimeout(lose, timeLeftMs(askedAt));
  }

  function stopWatching() {
    holdCount = 0;
    clearInterval(watchdog);
    clearTimeout(expiry);
  }

  function lose() {
    stopWatching();
    onLeaseLost();
    lost.abort(new LockNotHeldError(key));
  }

  async function release() {
    holdCount -= 1;
    if (holdCount > 0) return;
    stopWatching();
    const { yes, no } = await ask(giveBack);
    if (yes >= quorum) return;
    throw no > othersAtMost ? new LockNotHeldError(key) : new NoMajorityError(key);
  }

  return { acquire, release, lost: lost.signal };
};
