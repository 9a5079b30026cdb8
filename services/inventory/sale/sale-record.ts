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

/** Records the outcome of each sale on this node: in its history, metrics, counts and log. */
export function createSaleRecords(history: History, metrics: Metrics, port: number, log: Pick<Logger, 'debug'>) {
  let waiting = 0;
  let inFlight = 0;
  let counts = noSales();

  return {
    /** Starts the record of a sale. It measures each wait for the lock. */
    open(saleId: string, skus: string[], requestId: string | undefined, holder: Holder) {
      const { lock, wait } = holder;
      const startedAt = performance.now();
      let hasBegun = false;
      let isInside = false;
      let isLeaseLost = false;
      /** What is being measured, and since when. */
      let timed = metrics.waitSeconds;
      let since = startedAt;
      history.record({ type: 'waiting', saleId, ...(requestId !== undefined && { requestId }) });
      counts.received += 1;
      inFlight += 1;
      waiting += 1;

      function begin() {
        hasBegun = true;
        waiting -= 1;
        observe();
        measure(metrics.holdSeconds);
        wait.end();
      }

      function measure(seconds: typeof timed) {
        timed = seconds;
        since = performance.now();
      }

      function observe() {
        timed.observe({ lock }, (performance.now() - since) / 1_000);
      }

      const startWait = () => measure(metrics.waitSeconds);

      function waitAgain() {
        hasBegun = false;
        waiting += 1;
        startWait();
        wait.beginAgain();
      }

      function close(outcome: Exclude<keyof SaleCounts, 'received'>) {
        if (!hasBegun) waiting -= 1;
        metrics.sales.inc({ lock, outcome });
        counts[outcome] += 1;
        inFlight -= 1;
      }

      function writeLine({ sku, stockBefore, remaining }: SoldOrNot, outcome: string) {
        const ms = Math.round(performance.now() - startedAt);
        log.debug({ requestId, outcome, sku, stockBefore, remaining, lock, port, ms }, 'sale');
      }

      return {
        startWait,
        emit(step: SaleStep, stock?: number, bucket?: number) {
          // A sale without a lock has left already, or has never entered.
          if (step === 'left' && !isInside) return;
          holder.emit(step, stock);
          if (step === 'entered' || step === 'began') {
            isInside = true;
            if (!hasBegun) begin();
          }
          if (step === 'waiting') waitAgain();
          if (step === 'left') {
            isInside = false;
            observe();
          }
          if (step === 'released') return;
          const fencingToken = step === 'entered' ? holder.fencingToken() : undefined;
          history.record({ type: step, saleId, stock, bucket, fencingToken });
        },
        nested: () => history.record({ type: 'nested', saleId }),
        goesOn: () => history.pass(saleId),
        loseLease() {
          if (isLeaseLost) return;
          isLeaseLost = true;
          metrics.leaseLosses.inc({ lock });
          history.record({ type: 'lease-lost', saleId });
        },
        sold(items: SoldItem[]) {
          close('sold');
          for (const item of items) writeLine(item, 'sold');
        },
        failed(ending: ProblemError) {
          const { code, message: detail } = ending;
          history.record({ type: 'failed', saleId, code, ...(code === 'LOCK_FAILED' && { detail }) });
          close(outcomeOf(ending));
          for (const sku of skus) writeLine({ sku }, code);
        },
      };
    },
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
