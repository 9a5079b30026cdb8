// A holder acquires a lock to sell, to read the stock, or to return units: it waits, holds the lock, and uses the stock.

import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import {
  type CreateLock,
  type CreateMultiLock,
  type FencedStock,
  type Lock,
  LockNotHeldError,
  type MultiLock,
} from '../../../locks/lock.ts';
import { ProblemError } from '../problem.ts';
import { asProblem, reasonOf, unreadableOf } from '../servers/away-server.ts';
import { lockKey, nameInBucket, userLockKey, wasNotDone } from '../servers/store.ts';
import type { SaleServiceParts } from './parts.ts';
import type { Present } from './present.ts';
import type { SaleStep } from './sale.ts';
import type { Releases } from './sale-release.ts';
import type { Asked } from './sku.ts';

/**
 * The client that waits and may disconnect: its HTTP response. A `close` before it has ended means the client has disconnected.
 */
export type Client = Pick<ServerResponse, 'destroyed' | 'on' | 'off'> & { locals?: { requestId?: string } };

/** A holder's progress. */
export interface Progress {
  /** The stock that it last read. */
  stock?: number | undefined;
  /** Its write of the stock. A refused write counts as not sent: it certainly did not take place. */
  write: 'not sent' | 'in doubt' | 'done';
  /** Set if the stock refused the holder's read or write because it had lost its lock. */
  refusal?: ProblemError;
}

export type Holders = ReturnType<typeof createHolders>;
export type Holder = ReturnType<Holders['open']>;

const notFree = (when: string) => new ProblemError('LOCK_WAIT_TIMEOUT', `The lock was not free ${when}.`);

export function createHolders(
  parts: Pick<SaleServiceParts, 'store' | 'twoStores' | 'servers' | 'settings'>,
  releases: Releases,
  present: () => Present,
) {
  const { store, twoStores, servers, settings } = parts;
  const instance = randomUUID();
  const waits = new Set<(why: ProblemError) => void>();
  const underWay = new Set<Promise<unknown>>();

  /**
   * Starts a wait: its signal aborts after `limitMs` unless the wait has ended, or when the client disconnects. The signal's
   * reason is the resulting error.
   */
  function startWait(limitMs: number, client?: Client) {
    const wait = new AbortController();
    let isOver = false;
    const giveUp = () => abort(new ProblemError('CLIENT_GONE', 'The client disconnected while its sale waited.'));
    const until = performance.now() + limitMs;
    let timer: NodeJS.Timeout | undefined;
    begin();
    return {
      /** Created on first use: a sale in one step does not need it, and a signal is three quarters of the cost of its wait. */
      get signal() {
        return wait.signal;
      },
      throwIfOver() {
        if (isOver) wait.signal.throwIfAborted();
      },
      end,
      beginAgain: begin,
    };

    function abort(why: ProblemError) {
      isOver = true;
      wait.abort(why);
    }

    function begin() {
      waits.add(abort);
      timer = setTimeout(() => {
        abort(notFree(`within ${limitMs} ms`));
      }, until - performance.now());
      if (client?.destroyed) giveUp();
      client?.on('close', giveUp);
    }

    /** From now on nothing aborts the wait, unless it starts again. */
    function end() {
      waits.delete(abort);
      clearTimeout(timer);
      client?.off('close', giveUp);
    }
  }

  /**
   * Creates a holder that starts to wait. Its name is unique on this node. It is notified at least once if it has lost its
   * lock.
   */
  function open(holderName: string, client?: Client, onLeaseLost = () => {}, asked: Asked = {}) {
    const ownerToken = `${instance}:${holderName}`;
    const { lock: name, leaseMs, renewEveryMs, fixedLeaseMs, retryDelayMs, waitTimeoutMs } = present();
    const { user, waitMs = waitTimeoutMs } = asked;
    const ownLeaseMs = asked.leaseMs ?? fixedLeaseMs;
    const once = waitMs === 0 ? AbortSignal.abort(notFree('at once')) : undefined;
    const wait = startWait(waitMs || waitTimeoutMs, client);
    const progress: Progress = { write: 'not sent' };
    let held: Lock | MultiLock | undefined;

    const lockOptions = () =>
      Object.assign(servers.forLock(name, leaseMs), {
        ownerToken,
        leaseMs,
        renewEveryMs,
        fixedLeaseMs: ownLeaseMs,
        retryDelayMs,
        permits: settings.PERMITS,
        onLeaseLost,
      });
    const keyOf = (sku: string, bucket = 0) =>
      user === undefined ? lockKey(sku, nameInBucket(name, bucket)) : userLockKey(user, name);

    /** A refusal by the stock is definite, whatever fails afterwards. */
    function noteRefusal(error: unknown): never {
      if (error instanceof ProblemError) progress.refusal = error;
      throw error;
    }

    /** Lets `send` write the stock. */
    async function write<T>(send: () => Promise<T>): Promise<T> {
      progress.write = 'in doubt';
      try {
        const answer = await send();
        progress.write = 'done';
        return answer;
      } catch (error) {
        if (error instanceof ProblemError || wasNotDone(error)) progress.write = 'not sent';
        return noteRefusal(error);
      }
    }

    function emit(step: SaleStep, stock?: number) {
      if (step === 'read') progress.stock = stock;
    }

    /** Where a sku's units are: the stock as this holder sees it, and its lock. */
    function place(sku: string, bucket = 0) {
      // The tokens of two users are never compared.
      const fence = user === undefined ? name : `${name}:${user}`;
      const seen = twoStores?.stockOf(sku) ?? store.bucketOf(sku, fence, bucket);
      const stock: FencedStock = {
        read: (token) => seen.read(token).catch(noteRefusal),
        write: (units, token) => write(() => seen.write(units, token)),
      };
      function openLock(createLock: CreateLock): Lock {
        const lock = createLock(Object.assign(lockOptions(), { key: keyOf(sku, bucket) }));
        held = lock;
        return releases.followed(lock, name, ownLeaseMs ?? leaseMs, once);
      }
      return { sku, stock, openLock };
    }

    return {
      lock: name,
      ownerToken,
      wait,
      progress,
      servers: () => servers.forLock(name, leaseMs),
      emit,
      place,
      write,
      fencingToken: () => (held && 'fencingToken' in held ? held.fencingToken : undefined),
      /** What it uses in the critical section of a sku: a new lock, and the stock as it sees it. */
      under(createLock: CreateLock, sku: string) {
        const { stock, openLock } = place(sku);
        return { sku, stock, lock: openLock(createLock), signal: wait.signal, emit };
      },
      openLocks(createMultiLock: CreateMultiLock, skus: string[]): MultiLock {
        // A user has one lock, whatever is in the basket.
        const keys = new Set(skus.map((sku) => keyOf(sku)));
        const locks = createMultiLock(lockOptions(), [...keys]);
        held = locks;
        const followed = releases.followed(locks, name, leaseMs, once);
        return {
          acquire: (signal) => followed.acquire(signal),
          release: () => followed.release(),
          lost: locks.lost,
          fencingTokenOf: (sku) => locks.fencingTokenOf(keyOf(sku)),
        };
      },
      /** Runs the holder's work. If that fails, rejects with the matching ProblemError. */
      does<T>(work: () => Promise<T>, meaning: (error: unknown, progress: Progress) => unknown = explain): Promise<T> {
        const doing = attempt().finally(() => {
          wait.end();
          underWay.delete(doing);
        });
        underWay.add(doing);
        return doing;

        async function attempt() {
          try {
            await store.mustCarry(name);
            return await work();
          } catch (error) {
            if (error instanceof LockNotHeldError) onLeaseLost();
            throw meaning(error, progress);
          }
        }
      },
    };
  }

  return {
    instance,
    present,
    open,
    endWaits(why: ProblemError) {
      for (const abort of waits) abort(why);
    },
    /** Resolves when none of the current holders is at work. */
    ended: () => Promise.allSettled(underWay),
  };
}

/** What an error means for a holder's work depends on its progress. */
function explain(error: unknown, { stock = 1, write, refusal }: Progress): ProblemError {
  const ending = refusal ?? reasonOf(error);
  if (ending instanceof LockNotHeldError && stock <= 0)
    return new ProblemError('OUT_OF_STOCK', 'Sold out; the lock was lost during the sale.');
  const definite = write === 'not sent';
  // The first command that meets an unreadable key does nothing.
  if (unreadableOf(ending) !== undefined) return asProblem(ending, { definite: write !== 'done', when: '' });
  return asProblem(ending, { definite, when: definite ? 'before the sale was written' : 'while the sale was written' });
}
