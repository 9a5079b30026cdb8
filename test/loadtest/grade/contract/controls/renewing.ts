// A correct lock: a key with a lease that a watchdog renews. Its holder may acquire it again, and learns when it is lost.

import { setTimeout as sleep } from 'node:timers/promises';
import { type CreateLock, LockNotHeldError } from '../../../../../locks/lock.ts';

export const promises = { reentry: true, renewal: true, fencing: true };

const takeIfFree = `
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 0 end
return redis.call('INCR', KEYS[2])`;
const renewIfOwner = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`;
const releaseIfOwner = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`;

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs, onLeaseLost }) => {
  const counter = `${key}:tokens`;
  const lost = new AbortController();
  let holdCount = 0;
  let token = 0;
  let leaseEnd = 0;
  let watchdog: NodeJS.Timeout | undefined;
  let expiry: NodeJS.Timeout | undefined;

  async function tryOnce(_signal?: AbortSignal) {
    keepUntil(performance.now() + leaseMs);
    token = Number(await redis.eval(takeIfFree, 2, key, counter, ownerToken, leaseMs));
    return token > 0;
  }

  async function acquire(signal?: AbortSignal) {
    if (holdCount === 0) {
      while (!(await tryOnce(signal))) await sleep(retryDelayMs, undefined, { signal });
      watchdog = setInterval(renew, leaseMs / 3);
      expiry = setTimeout(lose, leaseEnd - performance.now());
    }
    holdCount += 1;
  }

  function keepUntil(end: number) {
    leaseEnd = end;
    if (expiry === undefined) return;
    clearTimeout(expiry);
    expiry = setTimeout(lose, leaseEnd - performance.now());
  }

  async function renew() {
    const askedAt = performance.now();
    const renewed = await redis.eval(renewIfOwner, 1, key, ownerToken, leaseMs).catch(() => undefined);
    if (holdCount === 0 || renewed === undefined) return;
    if (renewed === 1) keepUntil(askedAt + leaseMs);
    else lose();
  }

  function stop() {
    holdCount = 0;
    clearInterval(watchdog);
    clearTimeout(expiry);
    expiry = undefined;
  }

  function lose() {
    stop();
    onLeaseLost();
    lost.abort(new LockNotHeldError(key));
  }

  async function release() {
    if (holdCount > 1) {
      holdCount -= 1;
      return;
    }
    stop();
    if ((await redis.eval(releaseIfOwner, 1, key, ownerToken)) === 0) throw new LockNotHeldError(key);
  }

  return {
    acquire,
    release,
    lost: lost.signal,
    get fencingToken() {
      return String(token);
    },
  };
};
