// node-redisson 1: Redisson's lock with its watchdog.

import { type IRLock, Redisson } from 'node-redisson';
import { abortError } from '../../locks/drivers/abortable.ts';
import { type CreateLock, LockNotHeldError } from '../../locks/lock.ts';
import { cancelOnAbort } from '../../services/inventory/cancel.ts';
import { oneServer } from './peer.ts';

export const options = {
  redis: 'two connections of its own for each process, one of them to hear of releases',
  lockWatchdogTimeout: 'the lease',
  leaseTime: 'true: the watchdog renews the lease',
  clientId: 'the owner token',
};

export const doesNotPromise = {
  'client-gone': 'lock() cannot be cancelled: a waiter that has gone gets the lock once more and gives it back.',
  'paused-process': 'It has no fencing token.',
  'blocked-loop': 'It has no fencing token.',
  'late-write': 'It has no fencing token.',
  'crossed-write': 'It has no fencing token.',
  failover: 'It knows one Redis.',
  starvation: 'This lock of it promises no order.',
  overtaking: 'This lock of it promises no order.',
};

const redissons = new Map<string, Redisson>();

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs }) => {
  const { host, port } = oneServer(redis).options;
  const name = `${host}:${port} ${leaseMs}`;
  const redisson = redissons.get(name) ?? connect();
  redissons.set(name, redisson);
  const lock: IRLock = redisson.getLock(key, ownerToken);

  function connect() {
    return new Redisson({ redis: { options: { host, port } }, lockWatchdogTimeout: BigInt(leaseMs) });
  }

  async function acquire(signal?: AbortSignal) {
    if (!signal?.aborted) await cancelOnAbort(lock.lock(), signal, () => lock.unlock());
    else if (!(await lock.tryLock(0, true))) throw abortError(signal);
  }

  async function release() {
    try {
      await lock.unlock();
    } catch (error) {
      // The class of this error is not among what the package exports.
      if (error instanceof Error && error.constructor.name === 'RedissonLockError') throw new LockNotHeldError(key);
      throw error;
    }
  }

  return { acquire, release };
};
