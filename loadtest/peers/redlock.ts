// redlock 5 beta: `using()`, which extends the lease by itself, with one master.

import Redlock from 'redlock';
import { adapt } from './adapter.ts';
import { oneServer } from './peer.ts';

export const options = {
  clients: 'one: the Redis that all locks share',
  duration: 'the lease',
  retryCount: '-1 (no limit) while it waits, 0 for a single try and for the release',
  automaticExtensionThreshold: '500 ms before the end of the lease, less when the lease is short',
};

export const doesNotPromise = {
  'nested-call': 'It is not reentrant.',
  'paused-process': 'It has no fencing token.',
  'blocked-loop': 'It has no fencing token.',
  'late-write': 'It has no fencing token.',
  'crossed-write': 'It has no fencing token.',
  failover: 'It was given one master; its promise needs several.',
  'forgotten-sale': 'The stock is in Redis, whatever the lock does.',
  starvation: 'It promises no order.',
  overtaking: 'It promises no order.',
  'client-gone': 'acquire() cannot be cancelled: a waiter that has gone gets the lock once more and gives it back.',
  'clock-jump': 'Its lease is counted by the clock of one Redis.',
};

interface Held {
  leave: () => void;
  /** Resolves when Redis has answered the release. */
  left: Promise<void>;
}

export const createLock = adapt<Held>(({ redis, key, leaseMs, onLeaseLost }) => {
  const redlock = new Redlock([oneServer(redis)], {
    retryCount: 0,
    automaticExtensionThreshold: Math.min(500, Math.max(0, leaseMs - 100)),
  });

  /** Resolves inside `using()`, which ends when `leave` is called. */
  function enter(retryCount: number) {
    return new Promise<Held>((resolve, reject) => {
      let leave = () => {};
      const inside = new Promise<void>((resolve) => (leave = resolve));
      const left: Promise<void> = redlock.using([key], leaseMs, { retryCount }, (lost) => {
        lost.addEventListener('abort', () => onLeaseLost(), { once: true });
        resolve({ leave, left });
        return inside;
      });
      left.catch(reject);
    });
  }

  return {
    wait: () => enter(-1),
    tryOnce: () => enter(0).catch(() => undefined),
    release({ leave, left }) {
      leave();
      return left.catch(() => false);
    },
  };
});
