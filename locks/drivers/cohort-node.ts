import { randomUUID } from 'node:crypto';
import { LockNotHeldError, type RedisClient } from '../lock.ts';
import { abortError } from './abortable.ts';
import { listen } from './channels.ts';
import { readScript } from './script.ts';
import { startWatchdog, type Watchdog } from './watchdog.ts';

const acquireOrQueue = readScript('acquire-or-queue');
const releaseToNextNode = readScript('release-to-next-node');
const renewIfOwner = readScript('renew-if-owner');

/**
 * When another node waits, a tenure ends after so many holders, so many milliseconds, or a third of the lease. A process that
 * takes over after a pause runs slowly at first: at 128 holders that made every sale cost about a sixth more CPU time
 * than at 512.
 */
const HOLDERS_PER_TENURE = 512;
const TENURE_MS = 100;

const done = Promise.resolve();

export interface Lease {
  ownerToken: string;
  leaseMs: number;
}

/** Who waits or holds: one request. It is told to enter, is refused, or loses the lock it has. */
export interface Contender extends Lease {
  signal: AbortSignal | undefined;
  enter(): void;
  refuse(error: Error): void;
  lose(): void;
  /** What Redis did not answer about: it may hold the lock, and is to be given back. */
  unanswered: Lease | undefined;
}

/** The lock is here, in Redis under the owner token of the first holder. */
interface Tenure extends Lease {
  holder: Contender | undefined;
  holdersLeft: number;
  endsAt: number;
  watchdog: Watchdog;
}

/**
 * What one process does for one key. Either the lock is away, and the first waiter asks Redis for it: now, when the node hears
 * that the lock was handed to it, and when the lease of the present holder ends. Or the lock is here for a tenure, and
 * passOn() lets the next waiter in. The bound of a tenure lies within its lease, so that no clock but ours is needed to pass on
 * safely; after it Redis is asked. There the lock goes to the node that waits longest, or begins a new tenure here
 * when none waits. A tenure whose last waiter is gone ends at once. `onIdle` is told that nobody holds or waits here any more.
 */
export function createNode(redis: RedisClient, key: string, onIdle: () => void) {
  const keys = [key, `${key}:queue`];
  const channel = `${key}:${randomUUID()}`;
  const waiters: Contender[] = [];
  let tenure: Tenure | undefined;
  let isAsking = false;
  let isQueued = false;
  /** The waiter whose try is on its way. It can't leave: only the answer tells how its wait ends. */
  let trying: Contender | undefined;
  let wake = () => {};
  let stopListening: (() => void) | undefined;

  function join(waiter: Contender) {
    const isFirst = tenure === undefined && !isAsking;
    if (waiter.signal?.aborted && !isFirst) return waiter.refuse(abortError(waiter.signal));
    waiters.push(waiter);
    if (isFirst) ask();
    else stopListening ??= listen(redis, channel, lookAgain);
  }

  function leave(waiter: Contender) {
    const index = waiters.indexOf(waiter);
    if (index === -1 || waiter === trying) return;
    waiters.splice(index, 1);
    if (waiters.length === 0 && tenure === undefined) stopWaiting(waiter.leaseMs);
    waiter.refuse(abortError(waiter.signal));
  }

  async function ask() {
    isAsking = true;
    while (tenure === undefined && waiters[0] !== undefined) {
      const first = waiters[0];
      const woken = new Promise<void>((resolve) => (wake = resolve));
      const askedAt = performance.now();
      trying = first;
      const leaseLeftMs = await tryFor(first);
      if (leaseLeftMs === 0) startTenure(first, askedAt);
      trying = undefined;
      // Without an answer all were refused. Some of them may have asked again.
      if (!leaseLeftMs) continue;
      stopListening ??= first.signal?.aborted ? undefined : listen(redis, channel, lookAgain);
      if (first.signal?.aborted) leave(first);
      const leaseEnds = setTimeout(wake, leaseLeftMs);
      if (waiters.length > 0) await woken;
      clearTimeout(leaseEnds);
    }
    isAsking = false;
    if (tenure === undefined) onIdle();
  }

  /** Resolves with 0 when the lock is here, with the time that the present holder has, or undefined without an answer. */
  async function tryFor(waiter: Contender) {
    const ourChannel = waiter.signal?.aborted ? '' : channel;
    waiter.unanswered = waiter;
    try {
      const leaseLeftMs = await acquireOrQueue(redis, keys, [waiter.ownerToken, waiter.leaseMs, ourChannel]);
      waiter.unanswered = undefined;
      isQueued = leaseLeftMs > 0 && ourChannel !== '';
      return leaseLeftMs;
    } catch (error) {
      refuseAll(error as Error);
      stopWaiting(waiter.leaseMs);
      return undefined;
    }
  }

  function startTenure({ ownerToken, leaseMs }: Contender, askedAt: number) {
    const here: Tenure = {
      ownerToken,
      leaseMs,
      holder: undefined,
      holdersLeft: 0,
      endsAt: 0,
      watchdog: startWatchdog({ leaseMs, askedAt, renew: () => renew(here), lose: () => lose(here) }),
    };
    tenure = here;
    extend(here, askedAt);
    letNextIn(here);
  }

  function extend(here: Tenure, askedAt: number) {
    here.holdersLeft = HOLDERS_PER_TENURE;
    here.endsAt = askedAt + Math.min(TENURE_MS, here.leaseMs / 3);
  }

  function letNextIn(here: Tenure) {
    here.holdersLeft -= 1;
    here.holder = waiters.shift();
    here.holder?.enter();
  }

  /** Lets the next waiter in: at once, or after asking Redis when that is due. Rejects as release() does. */
  function passOn(): Promise<void> {
    const here = tenure as Tenure;
    if (waiters.length === 0 || here.holdersLeft === 0 || performance.now() > here.endsAt) return handOver(here);
    letNextIn(here);
    return done;
  }

  async function handOver(here: Tenure) {
    const contender = here.holder as Contender;
    const isLast = waiters.length === 0;
    const askedAt = performance.now();
    here.holder = undefined;
    if (isLast) endTenure(here);
    let isKept = false;
    try {
      isKept = await giveUp(contender, here, isLast ? 'free' : 'keep');
      // The tenure may have been lost before the answer came.
      if (isKept && tenure !== here) isKept = await giveUp(contender, here, 'free');
    } finally {
      if (!isKept) endTenure(here);
    }
    if (!isKept) return;
    extend(here, askedAt);
    // Those who waited when Redis was asked may have left.
    if (waiters.length > 0) return letNextIn(here);
    here.holder = contender;
    await handOver(here);
  }

  /** Gives a lease up in Redis. Resolves with true when the lock stays here because no other node waits. */
  async function giveUp(contender: Contender, lease: Lease, otherwise: 'keep' | 'free') {
    contender.unanswered = lease;
    const answer = await releaseToNextNode(redis, keys, [lease.ownerToken, lease.leaseMs, otherwise]);
    contender.unanswered = undefined;
    if (answer === -1) throw new LockNotHeldError(key);
    return answer === 1;
  }

  /** For a contender that holds nothing here. Rejects with LockNotHeldError, unless Redis may hold something for it. */
  async function giveBack(contender: Contender) {
    if (contender.unanswered === undefined) throw new LockNotHeldError(key);
    await giveUp(contender, contender.unanswered, 'free');
  }

  function endTenure(here: Tenure) {
    if (tenure !== here) return;
    here.watchdog.stop();
    tenure = undefined;
    if (waiters.length > 0) return ask();
    stopWaiting(here.leaseMs);
    onIdle();
  }

  /** Renews the lease when the lock is here, else wakes the first waiter. */
  function lookAgain() {
    if (tenure) tenure.watchdog.renewNow();
    else wake();
  }

  function renew(here: Tenure) {
    return renewIfOwner(redis, [key], [here.ownerToken, here.leaseMs]).catch((error) => {
      // Without an answer nobody can wait any longer.
      if (tenure === here) refuseAll(error);
      throw error;
    });
  }

  function lose(here: Tenure) {
    endTenure(here);
    if (here.holder === undefined) return;
    // An answer that is missing may have renewed the lease.
    here.holder.unanswered = here;
    here.holder.lose();
  }

  function refuseAll(error: Error) {
    for (const waiter of waiters.splice(0)) waiter.refuse(error);
  }

  /** Nobody waits here any more. The lock may be handed to this node already: then it is handed on. */
  function stopWaiting(leaseMs: number) {
    stopListening?.();
    stopListening = undefined;
    wake();
    if (!isQueued) return;
    isQueued = false;
    redis.lrem(`${key}:queue`, 0, channel).catch(ignore);
    releaseToNextNode(redis, keys, [channel, leaseMs, 'free']).catch(ignore);
  }

  return { join, leave, passOn, giveBack };
}

function ignore() {}
