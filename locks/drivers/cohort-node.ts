// A node of the cohort: one process's part in the lock of one key.
//
//   idle ──► trying ◄──► waiting        the lock is elsewhere: the first waiter tries to acquire it, then waits to be woken
//              │
//              ▼
//            inside ◄──► handing over   the lock is here for a tenure: a holder is inside, or the node asks Redis whether to keep it
//
// trying        The first waiter's request is on its way to Redis. That waiter can't leave: the reply decides how its wait ends.
// waiting       Woken when Redis hands the lock to this node, and when the current holder's lease expires. Then it tries.
// inside        passOn() lets the next waiter in, without Redis, until the tenure reaches its limit. The limit lies within the
//               lease, so our own clock is enough to pass the lock on safely.
// handing over  After the limit: Redis gives the lock to the longest-waiting node. If no node waits, the lock stays and a new
//               tenure begins.
//
// The lock leaves when this node has no more waiters, when another node gets it, and when its lease is lost. If requests wait
// here, the node then tries again, else it is idle. An idle node is dropped; the next waiter creates a new one, of the same name.

import { LockNotHeldError, type RedisClient } from '../lock.ts';
import { abortError } from './abortable.ts';
import { listen, processId } from './channels.ts';
import { type RunScript, readScript } from './script.ts';
import { startWatchdog, type Watchdog } from './watchdog.ts';

const acquireOrQueue: RunScript<string | number> = readScript('acquire-or-queue');
const releaseToNextNode = readScript('release-to-next-node');
const renewIfOwner = readScript('renew-if-owner');

/**
 * When another node waits, a tenure ends after this many holders, this many milliseconds, or a third of the lease. A process
 * that takes over after an idle phase is slow at first: with 128 holders every sale cost about a sixth more CPU time than with
 * 512.
 */
const HOLDERS_PER_TENURE = 512;
const TENURE_MS = 100;

const done = Promise.resolve();

export interface Lease {
  ownerToken: string;
  leaseMs: number;
  renewEveryMs: number;
}

/** A request that waits for the lock or holds it. It may enter, be refused, or lose the lock. */
export interface Contender extends Lease {
  signal: AbortSignal | undefined;
  enter(fencingToken: string | undefined): void;
  refuse(error: Error): void;
  lose(): void;
  /** A lease whose request got no reply: Redis may have granted it, so it must be released. */
  unanswered: Lease | undefined;
}

/** While the lock is here. In Redis it has the owner token of the first holder. */
interface Tenure extends Lease {
  fencingToken: string | undefined;
  holder: Contender | undefined;
  holdersLeft: number;
  endsAt: number;
  watchdog: Watchdog;
}

interface NodeOptions {
  redis: RedisClient;
  key: string;
  hasTokens: boolean;
  onIdle: () => void;
}

export function createNode({ redis, key, hasTokens, onIdle }: NodeOptions) {
  const keys = [key, `${key}:queue`];
  const keysOfTry = hasTokens ? [...keys, `${key}:tokens`] : keys;
  // One name for all nodes of this process: a lock handed to a node that was dropped belongs to the next one.
  const channel = `${key}:${processId(redis)}`;
  const waiters: Contender[] = [];
  let mode: 'idle' | 'trying' | 'waiting' | 'here' = 'idle';
  /** Set while the lock is here: the node is inside, or handing over. */
  let tenure: Tenure | undefined;
  let wake = () => {};
  let stopListening: (() => void) | undefined;
  /** True if the queue in Redis may contain the channel. */
  let isQueued = false;

  function join(waiter: Contender) {
    if (waiter.signal?.aborted && mode !== 'idle') return waiter.refuse(abortError(waiter.signal));
    waiters.push(waiter);
    if (mode === 'idle') tryUntilHere();
    else stopListening ??= listen(redis, channel, lookAgain);
  }

  function leave(waiter: Contender) {
    const index = waiters.indexOf(waiter);
    if (index === -1 || (mode === 'trying' && index === 0)) return;
    waiters.splice(index, 1);
    if (mode === 'waiting' && waiters.length === 0) stopWaiting(waiter.leaseMs);
    waiter.refuse(abortError(waiter.signal));
  }

  async function tryUntilHere() {
    for (let first = waiters[0]; first !== undefined; first = waiters[0]) {
      mode = 'trying';
      const woken = new Promise<void>((resolve) => (wake = resolve));
      const askedAt = performance.now();
      const answer = await tryFor(first);
      // Without a reply all waiters were refused. Some may have retried.
      if (answer === undefined) continue;
      if (isHere(answer)) return startTenure(first, askedAt, answer || undefined);
      mode = 'waiting';
      stopListening ??= first.signal?.aborted ? undefined : listen(redis, channel, lookAgain);
      if (first.signal?.aborted) leave(first);
      const leaseEnds = setTimeout(wake, answer);
      if (waiters.length > 0) await woken;
      clearTimeout(leaseEnds);
    }
    mode = 'idle';
    onIdle();
  }

  async function tryFor(waiter: Contender) {
    const ourChannel = waiter.signal?.aborted ? '' : channel;
    waiter.unanswered = waiter;
    try {
      const answer = await acquireOrQueue(redis, keysOfTry, [waiter.ownerToken, waiter.leaseMs, ourChannel]);
      waiter.unanswered = undefined;
      isQueued = !isHere(answer) && ourChannel !== '';
      return answer;
    } catch (error) {
      refuseAll(error as Error);
      stopWaiting(waiter.leaseMs);
      return undefined;
    }
  }

  function startTenure(first: Contender, askedAt: number, fencingToken: string | undefined) {
    const { ownerToken, leaseMs, renewEveryMs } = first;
    const lease = { ownerToken, leaseMs, renewEveryMs };
    const watchdog = startWatchdog({
      leaseMs,
      renewEveryMs,
      askedAt,
      renew: () => renew(here),
      lose: () => lose(here),
    });
    const here: Tenure = { ...lease, fencingToken, holder: undefined, holdersLeft: 0, endsAt: 0, watchdog };
    mode = 'here';
    tenure = here;
    beginAnew(here, askedAt);
  }

  /** The limit counts from the request to Redis. */
  function beginAnew(here: Tenure, askedAt: number) {
    here.holdersLeft = HOLDERS_PER_TENURE;
    here.endsAt = askedAt + Math.min(TENURE_MS, here.leaseMs / 3);
    letNextIn(here);
  }

  function letNextIn(here: Tenure) {
    here.holdersLeft -= 1;
    here.holder = waiters.shift();
    here.holder?.enter(here.fencingToken);
  }

  /** Lets the next waiter in: at once, or after asking Redis if that is due. Rejects like release(). */
  function passOn(): Promise<void> {
    const here = tenure;
    if (here?.holder === undefined) throw new Error(`Nobody holds ${key} here: its node is ${mode}.`);
    if (waiters.length === 0 || here.holdersLeft === 0 || performance.now() > here.endsAt)
      return handOver(here, here.holder);
    letNextIn(here);
    return done;
  }

  async function handOver(here: Tenure, contender: Contender): Promise<void> {
    const isLast = waiters.length === 0;
    const askedAt = performance.now();
    here.holder = undefined;
    if (isLast) endTenure(here);
    let isKept = false;
    try {
      isKept = await giveUp(contender, here, isLast ? 'free' : 'keep');
      // The tenure may have been lost before the reply arrived.
      if (isKept && tenure !== here) isKept = await giveUp(contender, here, 'free');
    } finally {
      if (!isKept) endTenure(here);
    }
    if (!isKept) return;
    // Requests that waited when Redis was asked may have left.
    if (waiters.length === 0) return handOver(here, contender);
    beginAnew(here, askedAt);
  }

  /** Releases a lease in Redis. Resolves with true if the lock stays here because no other node waits. */
  async function giveUp(contender: Contender, lease: Lease, otherwise: 'keep' | 'free') {
    contender.unanswered = lease;
    const answer = await releaseToNextNode(redis, keys, [lease.ownerToken, lease.leaseMs, otherwise]);
    contender.unanswered = undefined;
    if (answer === -1) throw new LockNotHeldError(key);
    return answer === 1;
  }

  /** For a contender that holds nothing here. Rejects with LockNotHeldError, unless Redis may have granted it a lease. */
  async function giveBack(contender: Contender) {
    if (contender.unanswered === undefined) throw new LockNotHeldError(key);
    await giveUp(contender, contender.unanswered, 'free');
  }

  function endTenure(here: Tenure) {
    if (tenure !== here) return;
    here.watchdog.stop();
    tenure = undefined;
    if (waiters.length === 0) stopWaiting(here.leaseMs);
    tryUntilHere();
  }

  /** Renews the lease if the lock is here, else wakes the first waiter. */
  function lookAgain() {
    if (tenure) tenure.watchdog.renewNow();
    else wake();
  }

  function renew(here: Tenure) {
    return renewIfOwner(redis, [key], [here.ownerToken, here.leaseMs]).catch((error) => {
      // Without a reply nobody can keep waiting.
      if (tenure === here) refuseAll(error);
      throw error;
    });
  }

  function lose(here: Tenure) {
    endTenure(here);
    if (here.holder === undefined) return;
    // The request without a reply may have renewed the lease.
    here.holder.unanswered = here;
    here.holder.lose();
  }

  function refuseAll(error: Error) {
    for (const waiter of waiters.splice(0)) waiter.refuse(error);
  }

  /** Nobody waits here any more. If the lock has already been handed to this node, it hands it on. */
  function stopWaiting(leaseMs: number) {
    stopListening?.();
    stopListening = undefined;
    wake();
    if (!isQueued) return;
    isQueued = false;
    redis.lrem(`${key}:queue`, 0, channel).catch(ignore);
    releaseToNextNode(redis, keys, [channel, leaseMs, 'free']).catch(ignore);
  }

  return { join, leave, passOn, giveBack, holder: () => tenure?.holder };
}

/** A token, or 0 for a lock without one. A number above 0 is the rest of the current holder's lease. */
const isHere = (answer: string | number): answer is string | 0 => typeof answer === 'string' || answer === 0;

function ignore() {}
