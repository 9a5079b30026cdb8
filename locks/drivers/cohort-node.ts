// A node of the cohort: what one process does for one key.
//
//   idle ──► trying ◄──► waiting        the lock is elsewhere: the first waiter tries for it, and waits until it is woken
//              │
//              ▼
//            inside ◄──► handing over   the lock is here for a tenure: a holder is inside, or Redis is asked whether to stay
//
// trying        The try of the first waiter is on its way to Redis. That waiter can't leave: the answer says how its wait ends.
// waiting       Woken when Redis hands the lock to this node, and when the lease of the present holder ends. Then it tries.
// inside        passOn() lets the next waiter in, without Redis, until the bound of the tenure. The bound lies within the lease,
//               so that no clock but ours is needed to pass on safely.
// handing over  After the bound: Redis gives the lock to the node that waits longest. When none waits it stays, and a new tenure
//               begins.
//
// The lock leaves when its last waiter here is gone, when another node gets it, and when its lease is lost. Then this node is
// trying again if somebody waits here, else idle. An idle node is forgotten; the next waiter makes another one, of the same name.

import { LockNotHeldError, type RedisClient } from '../lock.ts';
import { abortError } from './abortable.ts';
import { listen, processId } from './channels.ts';
import { type RunScript, readScript } from './script.ts';
import { startWatchdog, type Watchdog } from './watchdog.ts';

const acquireOrQueue: RunScript<string | number> = readScript('acquire-or-queue');
const releaseToNextNode = readScript('release-to-next-node');
const renewIfOwner = readScript('renew-if-owner');

/**
 * When another node waits, a tenure ends after so many holders, so many milliseconds, or a third of the lease. A process that
 * takes over after a pause runs slowly at first: at 128 holders that made every sale cost about a sixth more CPU time than at 512.
 */
const HOLDERS_PER_TENURE = 512;
const TENURE_MS = 100;

const done = Promise.resolve();

export interface Lease {
  ownerToken: string;
  leaseMs: number;
  renewEveryMs: number;
}

/** One request that waits or holds. It may enter, is refused, or loses the lock it has. */
export interface Contender extends Lease {
  signal: AbortSignal | undefined;
  enter(fencingToken: string | undefined): void;
  refuse(error: Error): void;
  lose(): void;
  /** A lease that Redis did not answer about: it may be there, and is to be given back. */
  unanswered: Lease | undefined;
}

/** The lock is here, in Redis under the owner token of the first holder. */
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
  // One name for all nodes of this process: what was handed to a node that is forgotten since is the next one's.
  const channel = `${key}:${processId(redis)}`;
  const waiters: Contender[] = [];
  let mode: 'idle' | 'trying' | 'waiting' | 'here' = 'idle';
  /** There is one while the lock is here: the node is inside, or handing over. */
  let tenure: Tenure | undefined;
  let wake = () => {};
  let stopListening: (() => void) | undefined;
  /** True when the channel may stand in the queue in Redis. */
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
      // Without an answer all were refused. Some of them may have asked again.
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

  /** The bound counts from when Redis was asked. */
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

  /** Lets the next waiter in: at once, or after asking Redis when that is due. Rejects as release() does. */
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
      // The tenure may have been lost before the answer came.
      if (isKept && tenure !== here) isKept = await giveUp(contender, here, 'free');
    } finally {
      if (!isKept) endTenure(here);
    }
    if (!isKept) return;
    // Those who waited when Redis was asked may have left.
    if (waiters.length === 0) return handOver(here, contender);
    beginAnew(here, askedAt);
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
    if (waiters.length === 0) stopWaiting(here.leaseMs);
    tryUntilHere();
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

  return { join, leave, passOn, giveBack, holder: () => tenure?.holder };
}

/** A token, or 0 for a lock without one. A number above 0 is the time that the present holder has. */
const isHere = (answer: string | number): answer is string | 0 => typeof answer === 'string' || answer === 0;

function ignore() {}
