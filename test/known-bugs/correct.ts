// A lock without a known bug: a key with a lease, a token of its owner, a watchdog, and a wait that can be cancelled. It promises
// no re-entry, no order of waiters and no fencing token.

import { setTimeout as sleep } from 'node:timers/promises';
import { abortable } from '../../locks/drivers/abortable.ts';
import { startWatchdog, type Watchdog } from '../../locks/drivers/watchdog.ts';
import { type CreateLock, LockNotHeldError } from '../../locks/lock.ts';

const renewIfOwner = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`;
const releaseIfOwner = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`;

export const createLock: CreateLock = (options) => {
  const { redis, key, ownerToken, leaseMs, renewEveryMs, retryDelayMs, onLeaseLost } = options;
  const lost = new AbortController();
  let askedAt = 0;
  let watchdog: Watchdog | undefined;

  async function acquire(signal?: AbortSignal) {
    while (!(await tryOnce(signal))) await sleep(retryDelayMs, undefined, { signal });
    watchdog = startWatchdog({ leaseMs, renewEveryMs, askedAt, renew, lose });
  }

  async function tryOnce(signal?: AbortSignal) {
    askedAt = performance.now();
    const asked = redis.set(key, ownerToken, 'PX', leaseMs, 'NX');
    // Aborted already means: try once.
    const answer = await (signal?.aborted ? asked : abortable(asked, signal)).catch((error) => {
      // Commands of one connection are run in their order: this one comes after the SET, and undoes it.
      if (signal?.aborted) giveBack().catch(ignore);
      throw error;
    });
    return answer === 'OK';
  }

  const renew = async () => Number(await redis.eval(renewIfOwner, 1, key, ownerToken, leaseMs));
  const giveBack = () => redis.eval(releaseIfOwner, 1, key, ownerToken);

  function lose() {
    onLeaseLost();
    lost.abort(new LockNotHeldError(key));
  }

  async function release() {
    watchdog?.stop();
    if ((await giveBack()) === 0) throw new LockNotHeldError(key);
  }

  return { acquire, release, lost: lost.signal };
};

function ignore() {}
