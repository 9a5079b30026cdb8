// Beyond · cohort
// Problem: each acquisition costs commands and a wake-up through Redis, even when the next holder is in the same process.
// Change:  a node takes the lock in Redis once, passes it from waiter to waiter of its own, then hands it to a node that waits.
// Leaves:  first come, first served holds within a node only; a paused process still believes that it holds.
// Source:  Dice, Marathe and Shavit, Lock cohorting: a general technique for designing NUMA locks, 2012.

import { type CreateLock, LockNotHeldError, type RedisClient } from '../lock.ts';
import { type Contender, createNode } from './cohort-node.ts';

const done = Promise.resolve();
const nodes = new WeakMap<RedisClient, Map<string, ReturnType<typeof createNode>>>();

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, onLeaseLost }) => {
  const node = nodeOf(redis, key);
  let lost: AbortController | undefined;
  let holdCount = 0;
  let contender: Contender | undefined;

  function acquire(signal?: AbortSignal) {
    if (holdCount > 0) {
      holdCount += 1;
      return done;
    }
    return new Promise<void>((resolve, reject) => {
      const onAbort = () => node.leave(ours);
      const ours: Contender = {
        ownerToken,
        leaseMs,
        signal,
        enter() {
          signal?.removeEventListener('abort', onAbort);
          holdCount = 1;
          resolve();
        },
        refuse(error) {
          signal?.removeEventListener('abort', onAbort);
          reject(error);
        },
        lose() {
          holdCount = 0;
          onLeaseLost();
          loss().abort(new LockNotHeldError(key));
        },
      };
      contender = ours;
      signal?.addEventListener('abort', onAbort);
      node.join(ours);
    });
  }

  function release() {
    // Not async: a release that stays in this process is done when it returns.
    if (holdCount === 0) return node.giveBack(contender);
    holdCount -= 1;
    return holdCount > 0 ? done : node.passOn();
  }

  /** Made when it is first asked for: few holders ever lose a lock, and making one costs as much as passing the lock on. */
  function loss() {
    lost ??= new AbortController();
    return lost;
  }

  return {
    acquire,
    release,
    get lost() {
      return loss().signal;
    },
  };
};

function nodeOf(redis: RedisClient, key: string) {
  const ofClient = nodes.get(redis) ?? new Map<string, ReturnType<typeof createNode>>();
  nodes.set(redis, ofClient);
  const node = ofClient.get(key) ?? createNode(redis, key);
  ofClient.set(key, node);
  return node;
}
