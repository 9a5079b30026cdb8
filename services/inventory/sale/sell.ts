// The sale of one sku or of a basket: it waits for its lock, takes the units, writes its order, and records the result.

import type { Bucket, CreateLock, CreateMultiLock, SaleOptions, Servers, TakeOne } from '../../../locks/lock.ts';
import { ProblemError } from '../problem.ts';
import { stockKey } from '../servers/store.ts';
import { sellAll } from './basket.ts';
import type { Client, Holder, Holders } from './holder.ts';
import type { SaleServiceParts } from './parts.ts';
import { sellAtomically, sellOne } from './sale.ts';
import type { SaleRecord, SaleRecords } from './sale-record.ts';
import type { SalePart, SaleScripts } from './sale-script.ts';
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
  const { Holder } = holders;
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
    const createMultiLock = skus.length > 1 ? mustSellBaskets() : undefined;
    const sale = new Sale(skus, client, order, asked);
    const { holder, record, script } = sale;

    try {
      const sold = await holder.does<Sold | BasketSold>(() =>
        createMultiLock ? sale.sellBasket(createMultiLock) : sale.sellUnit(),
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
  }

  /** One sale. A class, as its holder is. */
  class Sale {
    readonly sku: string;
    readonly holder: Holder;
    readonly record: SaleRecord;
    readonly script: SalePart = scripts.forSale();
    /** The bucket of the last event. */
    bucket: number | undefined;
    private readonly saleId: string;
    private readonly skus: string[];
    private readonly client: Client;
    private readonly order: SaleOrder | undefined;
    private readonly asked: Asked;

    constructor(skus: string[], client: Client, order: SaleOrder | undefined, asked: Asked) {
      lastSale += 1;
      this.saleId = String(lastSale).padStart(4, '0');
      this.sku = skus[0] ?? '';
      this.skus = skus;
      this.client = client;
      this.order = order;
      this.asked = asked;
      this.holder = new Holder(this.saleId, client, () => this.record.loseLease(), asked);
      this.record = records.open(this.saleId, skus, client.locals?.requestId, this.holder);
    }

    async sellUnit(): Promise<Sold> {
      const { order, holder, sku } = this;
      if (order) {
        await order.intend({ sku, ...this.facts() }, holder.wait.signal);
        this.record.startWait();
      }
      const strategy = registry.strategyNamed(holder.lock);
      const { stockBefore, remaining } = await ('takeOne' in strategy
        ? this.takeAtomically(strategy.takeOne)
        : this.takeUnderLock(strategy.createLock));
      const { bucket, saleId } = this;
      const { lock, ownerToken } = holder;
      const sold: Sold = {
        outcome: 'sold',
        sku,
        stockBefore,
        remaining,
        bucket,
        saleId,
        node,
        port,
        lock,
        holder: ownerToken,
      };
      if (order) {
        await this.script.before('order');
        await order.place(sold);
      }
      return sold;
    }

    async sellBasket(createMultiLock: CreateMultiLock): Promise<BasketSold> {
      const { skus, holder, record } = this;
      const { progress } = holder;
      const { signal } = holder.wait;
      const lock = holder.openLocks(createMultiLock, skus);
      const tokenOf = lock.fencingTokenOf;
      const stockOf = (sku: string) => holder.place(sku).stock;
      const business = () => this.business();
      const items = await sellAll({ skus, lock, tokenOf, stockOf, signal, business, emit: record.emit, progress });
      return { outcome: 'sold', skus: items, ...this.facts() };
    }

    /** What happens between read and write. */
    business(callNested?: Parameters<SalePart['inside']>[0]): Promise<void> {
      const scripted = this.script.inside(callNested);
      if (scripted !== undefined) return scripted.then(() => this.record.goesOn());
      this.record.goesOn();
      return done;
    }

    private facts(): SaleFacts {
      const { lock, ownerToken } = this.holder;
      return { saleId: this.saleId, node, port, lock, holder: ownerToken };
    }

    private takeUnderLock(createLock: CreateLock) {
      const { holder, record, sku } = this;
      const { stock, lock, signal } = holder.under(createLock, sku);

      /** Asks for the lock again that this sale has, then gives it up again, unless the script forgets that. Another object has the same owner token. */
      const askAgain = async (by: 'the same object' | 'another object', releases: boolean) => {
        record.nested();
        const again = new Holder(this.saleId, this.client, () => record.loseLease(), this.asked);
        const its = by === 'another object' ? again.under(createLock, sku).lock : lock;
        await its.acquire(again.wait.signal).finally(() => again.wait.end());
        if (releases) await its.release();
      };

      return sellOne({ sku, stock, lock, signal, business: () => this.business(askAgain), emit: record.emit });
    }

    private takeAtomically(takeOne: TakeOne) {
      const { holder, record } = this;
      holder.wait.throwIfOver();
      return sellAtomically(takeOne, Object.assign(new OwnWay(this), holder.servers()), record.emit);
    }
  }

  /** The options of a sale that takes its unit in a way of its own. Most ways read few of them, so each is created when it is read. */
  class OwnWay implements Omit<SaleOptions, keyof Servers> {
    readonly sku: string;
    private readonly sale: Sale;

    constructor(sale: Sale) {
      this.sku = sale.sku;
      this.sale = sale;
    }

    get stockKey() {
      return stockKey(this.sku);
    }

    get stock() {
      return this.sale.holder.place(this.sku).stock;
    }

    get openLock() {
      return this.sale.holder.place(this.sku).openLock;
    }

    get buckets(): Bucket[] {
      const { sale } = this;
      if (!registry.isInBuckets(sale.holder.lock)) return [];
      return Array.from({ length: store.buckets }, (_, bucket) => ({
        ...sale.holder.place(sale.sku, bucket),
        emit(step, units) {
          sale.bucket = bucket;
          sale.record.emit(step, units, bucket);
        },
      }));
    }

    get readBuckets() {
      return () => store.readBuckets(this.sku);
    }

    get signal() {
      return this.sale.holder.wait.signal;
    }

    get business() {
      return () => this.sale.business();
    }

    /** A strategy that writes in a way of its own has a refused write resolve with nothing. */
    get write() {
      const { holder } = this.sale;
      return <T>(send: () => Promise<T>) => {
        // A lock would be slower: it waits for each answer before it sends the next command.
        if (!registry.hasLock(holder.lock)) servers.sendTogether();
        return holder.write(send, true);
      };
    }

    get emit() {
      return this.sale.record.emit;
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

const done = Promise.resolve();
