// The sale of one sku or of a basket: it waits for its lock, takes the units, writes its order, and records the result.

import type { Bucket, CreateLock, CreateMultiLock, TakeOne } from '../../../locks/lock.ts';
import { ProblemError } from '../problem.ts';
import { stockKey } from '../servers/store.ts';
import { sellAll } from './basket.ts';
import type { Client, Holders } from './holder.ts';
import type { SaleServiceParts } from './parts.ts';
import { sellAtomically, sellOne } from './sale.ts';
import type { SaleRecords } from './sale-record.ts';
import type { SaleScripts } from './sale-script.ts';
import type { Asked, BasketSold, SaleFacts, Sold } from './sku.ts';

export interface SaleOrder {
  /** Called before anything is taken. Rejects with AbortError if `signal` aborts first. */
  intend(sale: SaleFacts & { sku: string }, signal: AbortSignal): Promise<void>;
  /**
   * Called after the unit was taken and the lock released. Adds to the response. Rejects if the sale did not take place, or may
   * not have.
   */
  place(sold: Sold): Promise<void>;
  /** Called if nothing was taken after all, because of `why`. Never rejects. */
  forget(why: Error): Promise<void>;
}

export function createSell(parts: SaleServiceParts, holders: Holders, records: SaleRecords, scripts: SaleScripts) {
  const { registry, settings, node, store, servers } = parts;
  const { PORT: port } = settings;
  let lastSale = 0;

  /**
   * Sells one unit of a sku, or one of each of several, or nothing. Rejects with ProblemError: the sale did not take place,
   * or, not definite, may have; also under a lock that sells one sku at a time, and when `client` hung up while it waited.
   */
  async function sell(
    skus: string[],
    client: Client,
    order?: SaleOrder,
    asked: Asked = {},
  ): Promise<Sold | BasketSold> {
    const [sku = ''] = skus;
    const createMultiLock = skus.length > 1 ? mustSellBaskets() : undefined;
    lastSale += 1;
    const saleId = String(lastSale).padStart(4, '0');
    const holder = holders.open(saleId, client, () => record.loseLease(), asked);
    const record = records.open(saleId, skus, client.locals?.requestId, holder);
    const { emit } = record;
    const { wait } = holder;
    const script = scripts.forSale();
    const facts = { saleId, node, port, lock: holder.lock, holder: holder.ownerToken };

    try {
      const sold = await holder.does<Sold | BasketSold>(() =>
        createMultiLock ? sellBasket(createMultiLock) : sellUnit(),
      );
      await script.before('answer');
      record.sold('skus' in sold ? sold.skus : [sold]);
      return sold;
    } catch (error) {
      const ending = error as ProblemError;
      if (ending.problem.definite) await order?.forget(ending);
      record.failed(ending);
      throw ending;
    }

    async function sellUnit(): Promise<Sold> {
      if (order) {
        await order.intend({ sku, ...facts }, wait.signal);
        record.startWait();
      }
      const strategy = registry.strategyNamed(holder.lock);
      const taken =
        'takeOne' in strategy ? await takeAtomically(strategy.takeOne) : await takeUnderLock(strategy.createLock);
      const sold: Sold = { outcome: 'sold', sku, ...taken, ...facts };
      if (order) {
        await script.before('order');
        await order.place(sold);
      }
      return sold;
    }

    /** Runs between read and write. */
    async function business(callNested?: Parameters<typeof script.inside>[0]) {
      await script.inside(callNested);
      record.goesOn();
    }

    function takeUnderLock(createLock: CreateLock) {
      const own = holder.under(createLock, sku);
      return sellOne({ ...own, business: () => business(askAgain), emit });

      /**
       * Acquires the sale's lock again, then releases it, unless the script skips the release. Another object has the same
       * owner token.
       */
      async function askAgain(by: 'the same object' | 'another object', releases: boolean) {
        record.nested();
        const again = holders.open(saleId, client, record.loseLease, asked);
        const its = by === 'another object' ? again.under(createLock, sku).lock : own.lock;
        await its.acquire(again.wait.signal).finally(again.wait.end);
        if (releases) await its.release();
      }
    }

    async function takeAtomically(takeOne: TakeOne) {
      const isSplit = registry.isInBuckets(holder.lock);
      let last: number | undefined;
      const openBucket = (bucket: number): Bucket => ({
        ...holder.place(sku, bucket),
        emit(step, units) {
          last = bucket;
          emit(step, units, bucket);
        },
      });
      const { stock, openLock } = holder.place(sku);
      const own = {
        sku,
        stock,
        openLock,
        stockKey: stockKey(sku),
        buckets: isSplit ? Array.from({ length: store.buckets }, (_, bucket) => openBucket(bucket)) : [],
        readBuckets: () => store.readBuckets(sku),
        get signal() {
          return wait.signal;
        },
        business,
        write,
        emit,
      };
      wait.throwIfOver();
      const taken = await sellAtomically(takeOne, Object.assign(own, holder.servers()), emit);
      return { ...taken, ...(last !== undefined && { bucket: last }) };
    }

    /** In a strategy that writes in its own way, a refused write resolves with nothing. */
    async function write<T>(send: () => Promise<T>) {
      // A lock would be slower: it waits for each answer before it sends the next command.
      if (!registry.hasLock(holder.lock)) servers.sendTogether();
      const answer = await holder.write(send);
      if (!answer) holder.progress.write = 'not sent';
      return answer;
    }

    async function sellBasket(createMultiLock: CreateMultiLock): Promise<BasketSold> {
      const lock = holder.openLocks(createMultiLock, skus);
      const tokenOf = lock.fencingTokenOf;
      const stockOf = (sku: string) => holder.place(sku).stock;
      const { progress } = holder;
      const items = await sellAll({ skus, lock, tokenOf, stockOf, signal: wait.signal, business, emit, progress });
      return { outcome: 'sold', skus: items, ...facts };
    }
  }

  function mustSellBaskets(): CreateMultiLock {
    const { lock } = holders.present();
    const createMultiLock = registry.multiLockOf(lock);
    if (createMultiLock !== undefined) return createMultiLock;
    const able = registry.multiLocks().join(', ');
    throw new ProblemError('BAD_REQUEST', `${lock} sells one sku at a time. To sell several, use ${able}.`);
  }

  return sell;
}
