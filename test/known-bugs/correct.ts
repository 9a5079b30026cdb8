// A lock without a known bug: a key with a lease, a token of its owner, a watchdog, and a wait that can be cancelled. It promises
// no re-entry, no order of waiters and no fencing token.

import { setTimeout as sleep } from 'node:timers/promises';
import { abortable } from '../../locks/drivers/abortable.ts';
import { type CreateLock, LockNotHeldError } from '../../locks/lock.ts';

const renewIfOwner = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`;
const releaseIfOwner = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`;

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs, onLeaseLost }) => {
  const lost = new AbortController();
  let watchdog: NodeJS.Timeout | undefined;

  async function acquire(signal?: AbortSignal) {
    while (!(await tryOnce(signal))) await sleep(retryDelayMs, undefined, { signal });
    watchdog = setInterval(renew, leaseMs / 3);
  }

  async function tryOnce(signal?: AbortSignal) {
    const askedAt = performance.now();
    const asked = redis.set(key, ownerToken, 'PX', leaseMs, 'NX');
    // Aborted already means: try once.
    const answer = await (signal?.aborted ? asked : abortable(asked, signal)).catch((error) => {
      // Commands of one connection are run in their order: this one comes after the SET, and undoes it.
      if (signal?.aborted) giveBack().catch(ignore);
      throw error;
    });
    // An answer that took a lease speaks of a lease that is over.
    if (answer === 'OK' && performance.now() - askedAt > leaseMs) await giveBack();
    else return answer === 'OK';
    return false;
  }

  async function renew() {
    // No answer is no news: the lease may still be ours, so the next tick asks again.
    const renewed = await redis.eval(renewIfOwner, 1, key, ownerToken, leaseMs).catch(() => undefined);
    if (renewed !== 0 || watchdog === undefined) return;
    stopWatchdog();
    onLeaseLost();
    lost.abort(new LockNotHeldError(key));
  }

  function stopWatchdog() {
    clearInterval(watchdog);
    watchdog = undefined;
  }

  const giveBack = () => redis.eval(releaseIfOwner, 1, key, ownerToken);

  async function release() {
    stopWatchdog();
    if ((await giveBack()) === 0) throw new LockNotHeldError(key);
  }

  return { acquire, release, lost: lost.signal };
};

function ignore() {}
