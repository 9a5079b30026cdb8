import type { History } from './history.ts';
import type { SaleCounts } from './lab/contract.ts';
import type { SaleStep } from './sale.ts';
import type { Progress, SaleEnding } from './sale-ending.ts';

/** What is measured of each sale: `/metrics` shows it. */
export interface SaleMetrics {
  sales: { inc(labels: { lock: string; outcome: string }): void };
  waitSeconds: { startTimer(labels: { lock: string }): () => unknown };
  holdSeconds: { startTimer(labels: { lock: string }): () => unknown };
  leaseLosses: { inc(labels: { lock: string }): void };
}

export type SaleRecords = ReturnType<typeof createSaleRecords>;

/** Writes down what becomes of each sale of this node: in its history, in its metrics, and in its counts. */
export function createSaleRecords({ history, metrics }: { history: History; metrics: SaleMetrics }) {
  let lastSaleId = 0;
  let waiting = 0;
  let inFlight = 0;
  let counts = noSales();
  let onIdle: (() => void)[] = [];

  return {
    /**
     * Opens the record of a sale that waits now. Its wait ends when it has what it waits for, and begins again when it waits again.
     * `tokenOf` has the fencing token of its lock, if there is one.
     */
    open(
      lock: string,
      wait: { end(): void; beginAgain(): void },
      requestId: string | undefined,
      tokenOf: () => string | undefined = () => undefined,
    ) {
      lastSaleId += 1;
      const saleId = String(lastSaleId).padStart(4, '0');
      const progress: Progress = { reached: new Map() };
      const { reached } = progress;
      let hasBegun = false;
      let isInside = false;
      let isLeaseLost = false;
      let stopTimer = metrics.waitSeconds.startTimer({ lock });
      history.record({ type: 'waiting', saleId, ...(requestId !== undefined && { requestId }) });
      counts.received += 1;
      inFlight += 1;
      waiting += 1;

      function begin() {
        hasBegun = true;
        waiting -= 1;
        stopTimer();
        stopTimer = metrics.holdSeconds.startTimer({ lock });
        wait.end();
      }

      function waitAgain() {
        hasBegun = false;
        waiting += 1;
        stopTimer = metrics.waitSeconds.startTimer({ lock });
        wait.beginAgain();
      }

      return {
        saleId,
        progress,
        /** The wait for the lock is measured from here on. */
        startWait() {
          stopTimer = metrics.waitSeconds.startTimer({ lock });
        },
        emit(step: SaleStep, stock?: number, bucket?: number) {
          // A sale without a lock has left already, or has never entered.
          if (step === 'left' && !isInside) return;
          reached.set(step, stock);
          if (step === 'entered' || step === 'began') {
            isInside = true;
            if (!hasBegun) begin();
          }
          if (step === 'waiting') waitAgain();
          if (step === 'left') {
            isInside = false;
            stopTimer();
          }
          // A write that was refused did not take place.
          if (step === 'conflict') reached.delete('writing');
          if (step === 'writing' || step === 'released') return;
          const fencingToken = step === 'entered' ? tokenOf() : undefined;
          history.record({ type: step, saleId, stock, bucket, fencingToken });
        },
        /** The sale asks for its own lock again. */
        nested: () => history.record({ type: 'nested', saleId }),
        loseLease() {
          if (isLeaseLost) return;
          isLeaseLost = true;
          metrics.leaseLosses.inc({ lock });
          history.record({ type: 'lease-lost', saleId });
        },
        /** Closes the record. The ending is that of a sale that was not sold. */
        close(outcome: Exclude<keyof SaleCounts, 'received'>, ending?: SaleEnding) {
          if (!hasBegun) waiting -= 1;
          if (ending !== undefined) {
            const { code, message: detail } = ending;
            history.record({ type: 'failed', saleId, code, ...(code === 'LOCK_FAILED' && { detail }) });
          }
          metrics.sales.inc({ lock, outcome });
          counts[outcome] += 1;
          inFlight -= 1;
          if (inFlight > 0) return;
          for (const resolve of onIdle) resolve();
          onIdle = [];
        },
      };
    },
    /** How many sales are in flight, how many of them wait, and how those before them ended. */
    read: () => ({ inFlight, waiting, counts: { ...counts } }),
    /** Forgets the counts and the history. */
    clear() {
      counts = noSales();
      history.clear();
    },
    /** Resolves when no sale is in flight. */
    async idle() {
      if (inFlight > 0) await new Promise<void>((resolve) => onIdle.push(resolve));
    },
  };
}

function noSales(): SaleCounts {
  return { received: 0, sold: 0, soldOut: 0, lockTimeout: 0, clientGone: 0, failed: 0, inDoubt: 0 };
}
