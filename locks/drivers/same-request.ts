// For a lock that belongs to a connection of this process: the lock objects of one request share one hold.

import type { CreateLock, Lock } from '../lock.ts';
import { abortable } from './abortable.ts';

/** The object that holds the lock for a request, and the total hold count. */
interface Hold {
  lock: Lock;
  count: number;
}

/** Makes a lock re-entrant per request instead of per object: for every object with the same key and owner token. */
export function sharedInRequest(createOwn: CreateLock): CreateLock {
  const holds = new Map<string, Hold>();
  /** The requests that are acquiring: each resolves once its first object has the lock or has given up. */
  const entering = new Map<string, Promise<void>>();

  return (options) => {
    const request = `${options.key} ${options.ownerToken}`;
    const own = createOwn(options);
    const taken: Hold[] = [];

    async function acquire(signal?: AbortSignal) {
      while (entering.has(request)) await abortable(entering.get(request), signal);
      const hold = holds.get(request) ?? { lock: own, count: 0 };
      const entered = enter(hold, signal).finally(() => entering.delete(request));
      const ended = entered.catch(() => {});
      entering.set(request, ended);
      await entered;
    }

    async function enter(hold: Hold, signal?: AbortSignal) {
      await hold.lock.acquire(signal);
      hold.count += 1;
      holds.set(request, hold);
      taken.push(hold);
    }

    async function release() {
      const hold = taken.pop();
      if (hold === undefined) return own.release();
      hold.count -= 1;
      if (hold.count === 0) holds.delete(request);
      await hold.lock.release();
    }

    const present = () => taken.at(-1)?.lock ?? own;

    return {
      acquire,
      release,
      get lost() {
        return present().lost;
      },
      get fencingToken() {
        return present().fencingToken;
      },
    } as Lock;
  };
}
