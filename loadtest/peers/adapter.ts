// The adapter kit: turns the few calls of a library into a lock of the lab. Peculiarities of the connection that a library
// gets, such as what its duplicate() inherits, are in docs/how-to/grade.md.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { abortable, abortError } from '../../locks/drivers/abortable.ts';
import { type CreateLock, type Lock, LockNotHeldError, type LockOptions, type RedisClient } from '../../locks/lock.ts';

/** What a library does for one lock object. `Held` is what it hands out for one hold: an object, a function, anything but undefined. */
export interface Library<Held> {
  /**
   * Resolves with the hold when it is granted, however long that takes. It may end the wait when `signal` aborts; one that does not
   * is cancelled all the same, and what it is granted later is released at once.
   */
  wait(signal?: AbortSignal): Promise<Held>;
  /** Asks once. Resolves with the hold, or with undefined when another has the lock. */
  tryOnce(): Promise<Held | undefined>;
  /** Gives one hold up. Resolves with false when it was no longer held, if the library says so. */
  release(held: Held): Promise<unknown> | unknown;
  /** The error by which a single try says that another has the lock, and a release that the hold was lost, if they reject so. */
  isRefusal?(error: unknown): boolean;
  /** The fencing token of a hold, if the library makes one. */
  fencingToken?(held: Held): string | undefined;
  /** Aborts when a hold is lost, if the library says so. */
  lost?(held: Held): AbortSignal | undefined;
}

/**
 * A lock of the lab that leaves the locking to a library. It cancels a wait, tries once for a signal that is aborted from the start, and
 * keeps several holds of one object apart: the last one is released first.
 */
export function adapt<Held>(open: (options: LockOptions) => Library<Held>): CreateLock {
  return (options) => {
    const library = open(options);
    const holds: Held[] = [];

    /** What the call resolves with; this answer when the library refuses it. */
    async function answerOf<T, Refused>(call: () => Promise<T> | T, refused: Refused): Promise<T | Refused> {
      try {
        return await call();
      } catch (error) {
        if (library.isRefusal?.(error)) return refused;
        throw error;
      }
    }

    async function acquire(signal?: AbortSignal) {
      if (!signal?.aborted) {
        holds.push(await abortable(library.wait(signal), signal, (held) => library.release(held)));
        return;
      }
      const held = await answerOf(() => library.tryOnce(), undefined);
      if (held === undefined) throw abortError(signal);
      holds.push(held);
    }

    async function release() {
      const held = holds.pop();
      if (held === undefined || (await answerOf(() => library.release(held), false)) === false)
        throw new LockNotHeldError(options.key);
    }

    const ofLast = <T>(read: ((held: Held) => T) | undefined) => {
      const held = holds.at(-1);
      return held === undefined ? undefined : read?.call(library, held);
    };

    return {
      acquire,
      release,
      get lost() {
        return ofLast(library.lost);
      },
      get fencingToken() {
        return ofLast(library.fencingToken);
      },
    } as Lock;
  };
}

/** The server that a library is given. Throws when it is a Cluster. */
export function oneServer(redis: RedisClient): Redis {
  if (redis.isCluster) throw new Error('The peers run on a single Redis server, not on a Cluster.');
  return redis as Redis;
}

/** A hold of a library that runs a function under its lock. */
export interface Inside {
  /** Lets the function end. */
  leave(): void;
  /** Settles when the library has given the lock up, as its call does. */
  left: Promise<unknown>;
  /** Aborts when the library tells the function that the lock is lost. */
  lost?: AbortSignal | undefined;
}

/**
 * Resolves when `run` has called the function that it is given, which goes on until `leave` is called. Rejects as `run` does before.
 * `onLost` is called when the lock is lost before.
 */
export function enter(
  run: (inside: (lost?: AbortSignal) => Promise<void>) => Promise<unknown>,
  onLost = () => {},
): Promise<Inside> {
  return new Promise((resolve, reject) => {
    let isInside = true;
    let leave = () => {};
    const until = new Promise<void>((resolve) => {
      leave = () => {
        isInside = false;
        resolve();
      };
    });
    const inside = (lost?: AbortSignal) => {
      // A library may go on extending what is given up, and find it lost.
      lost?.addEventListener('abort', () => isInside && onLost(), { once: true });
      resolve({ leave, left, lost });
      return until;
    };
    const left = Promise.resolve().then(() => run(inside));
    left.catch(reject);
  });
}

/** A single try of a library that can only wait: what it is granted later than after so many milliseconds is given back. */
export async function tryFor<Held>(
  ms: number,
  wait: () => Promise<Held>,
  release: (held: Held) => unknown,
): Promise<Held | undefined> {
  const over = AbortSignal.timeout(ms);
  return abortable(wait(), over, release).catch((error) => {
    if (over.aborted) return undefined;
    throw error;
  });
}

/** The wait of a library that only tries: it is asked again and again. */
export async function askAgain<Held>(
  tryOnce: () => Promise<Held | undefined>,
  retryDelayMs: number,
  signal?: AbortSignal,
  isRefusal: (error: unknown) => boolean = () => false,
): Promise<Held> {
  for (;;) {
    const held = await tryOnce().catch((error) => {
      if (!isRefusal(error)) throw error;
    });
    if (held) return held;
    await sleep(retryDelayMs, undefined, { signal });
  }
}

/** What a library does not promise whose wait has no way to give up. */
export function cannotBeCancelled(call: string): Record<string, string> {
  const why = `${call} cannot be cancelled: an aborted waiter still gets the lock once, and releases it.`;
  return Object.fromEntries(['client-gone', 'contract-abort', 'contract-abort-many'].map((cell) => [cell, why]));
}
