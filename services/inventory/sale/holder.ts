// A holder acquires a lock to sell, to read the stock, or to return units: it waits, holds the lock, and uses the stock.

import { randomUUID } from 'node:crypto';
import {
  type CreateLock,
  type CreateMultiLock,
  type FencedStock,
  type Lock,
  LockNotHeldError,
  type MultiLock,
} from '../../../locks/lock.ts';
import { createChain } from '../chain.ts';
import { ProblemError } from '../problem.ts';
import { asProblem, reasonOf, unreadableOf } from '../servers/away-server.ts';
import { lockKey, nameInBucket, userLockKey, wasNotDone } from '../servers/store.ts';
import type { SaleServiceParts } from './parts.ts';
import type { Present } from './present.ts';
import type { SaleStep } from './sale.ts';
import type { Releases } from './sale-release.ts';
import type { Asked } from './sku.ts';
import { type Client, notFree, Wait, Waits } from './wait.ts';

export type { Client };

/** A holder's progress. */
export interface Progress {
  /** The stock that it last read. */
  stock?: number | undefined;
  /** Its write of the stock. A refused write counts as not sent: it certainly did not take place. */
  write: 'not sent' | 'in doubt' | 'done';
  /** Set if the stock refused the holder's read or write because it had lost its lock. */
  refusal?: ProblemError | undefined;
}

export type Holders = ReturnType<typeof createHolders>;
export type Holder = InstanceType<Holders['Holder']>;

export function createHolders(
  parts: Pick<SaleServiceParts, 'store' | 'twoStores' | 'servers' | 'settings'>,
  releases: Releases,
  present: () => Present,
) {
  const { store, twoStores, servers, settings } = parts;
  const instance = randomUUID();
  const waits = new Waits();
  const underWay = createChain<Holder>();

  /** It waits from the moment it is constructed. A class, because closures for all of its members would have to be allocated for each sale. */
  class Holder {
    readonly lock: string;
    readonly ownerToken: string;
    readonly wait: Wait;
    readonly progress: Progress = { stock: undefined, write: 'not sent', refusal: undefined };
    /** The work of `does`, while it is in progress. */
    doing: Promise<unknown> | undefined;
    private readonly timing: Present;
    private readonly asked: Asked;
    private readonly onLeaseLost: () => void;
    /** An aborted signal, for a holder that tries once. */
    private readonly once: AbortSignal | undefined;
    private held: Lock | MultiLock | undefined;

    /** `name` is unique on this node. `onLeaseLost` is called at least once when the holder has lost its lock. */
    constructor(name: string, client?: Client, onLeaseLost = () => {}, asked: Asked = {}) {
      this.timing = present();
      const { lock, waitTimeoutMs } = this.timing;
      const { waitMs = waitTimeoutMs } = asked;
      this.lock = lock;
      this.ownerToken = `${instance}:${name}`;
      this.wait = new Wait(waits, waitMs || waitTimeoutMs, client);
      this.asked = asked;
      this.onLeaseLost = onLeaseLost;
      this.once = waitMs === 0 ? AbortSignal.abort(notFree('at once')) : undefined;
    }

    servers() {
      return servers.forLock(this.lock, this.timing.leaseMs);
    }

    fencingToken() {
      return this.held && 'fencingToken' in this.held ? this.held.fencingToken : undefined;
    }

    emit(step: SaleStep, stock?: number) {
      if (step === 'read') this.progress.stock = stock;
    }

    /** Has `send` write the stock. With `mayBeRefused`, a falsy answer means that the store refused the write. */
    async write<T>(send: () => Promise<T>, mayBeRefused = false): Promise<T> {
      const { progress } = this;
      progress.write = 'in doubt';
      try {
        const answer = await send();
        progress.write = mayBeRefused && !answer ? 'not sent' : 'done';
        return answer;
      } catch (error) {
        if (error instanceof ProblemError || wasNotDone(error)) progress.write = 'not sent';
        return this.noteRefusal(error);
      }
    }

    /** The stock of a sku as this holder sees it, and a function that opens the lock of that stock. */
    place(sku: string, bucket = 0) {
      return {
        sku,
        stock: this.stockOf(sku, bucket),
        openLock: (create: CreateLock) => this.openLock(create, sku, bucket),
      };
    }

    /** What it works with in the critical section of a sku: a new lock, and the stock as it sees it. */
    under(createLock: CreateLock, sku: string) {
      const { signal } = this.wait;
      const emit = (step: SaleStep, stock?: number) => this.emit(step, stock);
      return { sku, stock: this.stockOf(sku), lock: this.openLock(createLock, sku), signal, emit };
    }

    openLocks(createMultiLock: CreateMultiLock, skus: string[]): MultiLock {
      // A user has one lock, whatever is in the basket.
      const keys = new Set(skus.map((sku) => this.keyOf(sku)));
      const locks = createMultiLock(this.lockOptions(), [...keys]);
      this.held = locks;
      const followed = releases.followed(locks, this.lock, this.timing.leaseMs, this.once);
      return {
        acquire: (signal) => followed.acquire(signal),
        release: () => followed.release(),
        lost: locks.lost,
        fencingTokenOf: (sku) => locks.fencingTokenOf(this.keyOf(sku)),
      };
    }

    /** Does the work. When that fails, rejects with what the error means. */
    does<T>(work: () => Promise<T>, meaning: (error: unknown, progress: Progress) => unknown = explain): Promise<T> {
      const doing = this.attempt(work, meaning);
      this.doing = doing;
      return doing;
    }

    private async attempt<T>(work: () => Promise<T>, meaning: (error: unknown, progress: Progress) => unknown) {
      const link = underWay.add(this);
      try {
        await store.mustCarry(this.lock);
        return await work();
      } catch (error) {
        if (error instanceof LockNotHeldError) this.onLeaseLost();
        throw meaning(error, this.progress);
      } finally {
        this.wait.end();
        underWay.remove(link);
      }
    }

    private stockOf(sku: string, bucket = 0): FencedStock {
      const { user } = this.asked;
      // The tokens of two users are never compared.
      const fence = user === undefined ? this.lock : `${this.lock}:${user}`;
      const seen = twoStores?.stockOf(sku) ?? store.bucketOf(sku, fence, bucket);
      return {
        read: (token) => seen.read(token).catch((error) => this.noteRefusal(error)),
        write: (units, token) => this.write(() => seen.write(units, token)),
      };
    }

    private openLock(createLock: CreateLock, sku: string, bucket = 0): Lock {
      const lock = createLock(Object.assign(this.lockOptions(), { key: this.keyOf(sku, bucket) }));
      this.held = lock;
      return releases.followed(lock, this.lock, this.ownLeaseMs() ?? this.timing.leaseMs, this.once);
    }

    private lockOptions() {
      const { leaseMs, renewEveryMs, retryDelayMs } = this.timing;
      const { ownerToken, onLeaseLost } = this;
      const fixedLeaseMs = this.ownLeaseMs();
      const { PERMITS: permits } = settings;
      const own = { ownerToken, leaseMs, renewEveryMs, fixedLeaseMs, retryDelayMs, permits, onLeaseLost };
      return Object.assign(this.servers(), own);
    }

    private ownLeaseMs() {
      return this.asked.leaseMs ?? this.timing.fixedLeaseMs;
    }

    private keyOf(sku: string, bucket = 0) {
      const { user } = this.asked;
      return user === undefined ? lockKey(sku, nameInBucket(this.lock, bucket)) : userLockKey(user, this.lock);
    }

    /** What the stock refuses is known, whatever fails afterwards. */
    private noteRefusal(error: unknown): never {
      if (error instanceof ProblemError) this.progress.refusal = error;
      throw error;
    }
  }

  return {
    instance,
    present,
    Holder,
    endWaits: (why: ProblemError) => waits.end(why),
    /** Resolves when none of the current holders is at work. */
    ended: () => Promise.allSettled(underWay.all().map(({ doing }) => doing)),
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
