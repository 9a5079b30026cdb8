import type { Logger } from 'pino';
import type { ProblemError } from '../problem.ts';
import type { SaleCounts } from './contract.ts';
import type { History } from './history.ts';
import type { Holder } from './holder.ts';
import type { Metrics } from './metrics.ts';
import type { SaleStep } from './sale.ts';
import type { SoldItem } from './sku.ts';

/** One log line about a sale, or about one sku of a basket. `ms`: its duration, including the wait for the lock. */
export interface SaleLine extends SoldOrNot {
  msg: 'sale';
  requestId: string;
  lock: string;
  port: number;
  /** `sold`, or a problem code. */
  outcome: string;
  ms: number;
}

type SoldOrNot = Pick<SoldItem, 'sku'> & Partial<SoldItem>;

export type SaleRecords = ReturnType<typeof createSaleRecords>;
export type SaleRecord = ReturnType<SaleRecords['open']>;

/** Records the outcome of each sale on this node: in its history, metrics, counts and log. */
export function createSaleRecords(history: History, metrics: Metrics, port: number, log: Pick<Logger, 'debug'>) {
  let waiting = 0;
  let inFlight = 0;
  let counts = noSales();

  /** The record of one sale, from the beginning of its wait. The wait ends when the sale has what it waits for, and may begin again. */
  class OneSale {
    /** Locks get this function without its object. */
    readonly emit = (step: SaleStep, stock?: number, bucket?: number) => this.note(step, stock, bucket);
    private readonly saleId: string;
    private readonly skus: string[];
    private readonly requestId: string | undefined;
    private readonly holder: Holder;
    private readonly startedAt = performance.now();
    private hasBegun = false;
    private isInside = false;
    private isLeaseLost = false;
    /** What is measured now, and since when. */
    private timed = metrics.waitSeconds;
    private since = this.startedAt;

    constructor(saleId: string, skus: string[], requestId: string | undefined, holder: Holder) {
      this.saleId = saleId;
      this.skus = skus;
      this.requestId = requestId;
      this.holder = holder;
      history.record({ type: 'waiting', saleId, ...(requestId !== undefined && { requestId }) });
      counts.received += 1;
      inFlight += 1;
      waiting += 1;
    }

    startWait() {
      this.measure(metrics.waitSeconds);
    }

    nested() {
      history.record({ type: 'nested', saleId: this.saleId });
    }

    goesOn() {
      history.pass(this.saleId);
    }

    loseLease() {
      if (this.isLeaseLost) return;
      this.isLeaseLost = true;
      metrics.leaseLosses.inc({ lock: this.holder.lock });
      history.record({ type: 'lease-lost', saleId: this.saleId });
    }

    sold(items: SoldItem[]) {
      this.close('sold');
      for (const item of items) this.writeLine(item, 'sold');
    }

    failed(ending: ProblemError) {
      const { code, message: detail } = ending;
      history.record({ type: 'failed', saleId: this.saleId, code, ...(code === 'LOCK_FAILED' && { detail }) });
      this.close(outcomeOf(ending));
      for (const sku of this.skus) this.writeLine({ sku }, code);
    }

    private note(step: SaleStep, stock?: number, bucket?: number) {
      // A sale without a lock has left already, or has never entered.
      if (step === 'left' && !this.isInside) return;
      this.holder.emit(step, stock);
      if (step === 'entered' || step === 'began') {
        this.isInside = true;
        if (!this.hasBegun) this.begin();
      }
      if (step === 'waiting') this.waitAgain();
      if (step === 'left') {
        this.isInside = false;
        this.observe();
      }
      if (step === 'released') return;
      const fencingToken = step === 'entered' ? this.holder.fencingToken() : undefined;
      history.record({ type: step, saleId: this.saleId, stock, bucket, fencingToken });
    }

    private begin() {
      this.hasBegun = true;
      waiting -= 1;
      this.observe();
      this.measure(metrics.holdSeconds);
      this.holder.wait.end();
    }

    private waitAgain() {
      this.hasBegun = false;
      waiting += 1;
      this.startWait();
      this.holder.wait.beginAgain();
    }

    private measure(seconds: typeof metrics.waitSeconds) {
      this.timed = seconds;
      this.since = performance.now();
    }

    private observe() {
      this.timed.of(this.holder.lock).observe((performance.now() - this.since) / 1_000);
    }

    private close(outcome: Exclude<keyof SaleCounts, 'received'>) {
      if (!this.hasBegun) waiting -= 1;
      metrics.sales.inc({ lock: this.holder.lock, outcome });
      counts[outcome] += 1;
      inFlight -= 1;
    }

    private writeLine({ sku, stockBefore, remaining }: SoldOrNot, outcome: string) {
      const { requestId, startedAt } = this;
      const ms = Math.round(performance.now() - startedAt);
      log.debug({ requestId, outcome, sku, stockBefore, remaining, lock: this.holder.lock, port, ms }, 'sale');
    }
  }

  return {
    open: (saleId: string, skus: string[], requestId: string | undefined, holder: Holder) =>
      new OneSale(saleId, skus, requestId, holder),
    /** How many sales are in flight, how many of them are waiting, and how earlier sales ended. */
    read: () => ({ inFlight, waiting, counts: { ...counts } }),
    clear() {
      counts = noSales();
      history.clear();
    },
  };
}

function noSales(): SaleCounts {
  return { received: 0, sold: 0, soldOut: 0, lockTimeout: 0, clientGone: 0, failed: 0, inDoubt: 0 };
}

function outcomeOf({ code, problem }: ProblemError): Exclude<keyof SaleCounts, 'received' | 'sold'> {
  if (code === 'CLIENT_GONE') return 'clientGone';
  if (!problem.definite) return 'inDoubt';
  if (code === 'OUT_OF_STOCK') return 'soldOut';
  return code === 'LOCK_WAIT_TIMEOUT' ? 'lockTimeout' : 'failed';
}
