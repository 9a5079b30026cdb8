import { onTestFinished } from 'vitest';
import type { SaleScript } from '../../services/inventory/sale/contract.ts';
import { type LabOptions, openLab } from '../../simulation/lab.ts';
import { lockNamed } from '../../simulation/lock-service.ts';

export const LEASE_MS = 1_000;
export const STOCK_KEY = '{inventory001}:stock';

export interface OwnSale {
  /** The answer; `cut off` without one; undefined until it has ended. */
  answer(): { code?: string; outcome?: string; remaining?: number } | 'cut off' | undefined;
  endedAt(): number;
  hangUp(): void;
}

/** A lab whose nodes sell under this lock, for as long as the test goes on. */
export async function ownLab(lock: string, options: Partial<LabOptions> = {}) {
  const lab = await openLab({ lock: lockNamed(lock), leaseMs: LEASE_MS, ...options });
  onTestFinished(lab.close);
  lab.ask('SET', STOCK_KEY, 100);

  /** Sends a sale to a node, from 0. It follows the script, if there is one. */
  function sell(index: number, script?: SaleScript): OwnSale {
    if (script) lab.node(index).service.scriptNextSales(script);
    let answer: ReturnType<OwnSale['answer']>;
    let endedAt = Number.NaN;
    const { hangUp } = lab.request(
      index,
      (service, client) => service.sell(['001'], client),
      (end) => {
        answer = end ? JSON.parse(end.body) : 'cut off';
        endedAt = lab.now();
      },
    );
    return { answer: () => answer, endedAt: () => endedAt, hangUp };
  }

  return {
    ...lab,
    sell,
    pass: lab.schedule.pass,
    /** Lets the clock go on until every sale has ended. */
    async ended(...sales: OwnSale[]) {
      const isOver = await lab.schedule.until(() => sales.every(({ answer }) => answer() !== undefined), 60_000);
      if (!isOver) throw new Error('A sale came to no end.');
    },
    /** What a node has recorded, as `type at`. */
    events: (index: number) => lab.node(index).service.history.read().events,
    /** The proxy between a node and its Redis. */
    proxy: (index: number) => {
      const proxy = lab.proxies[index]?.[0];
      if (proxy === undefined) throw new Error(`There is no node ${index}.`);
      return proxy;
    },
    stock: () => Number(lab.ask('GET', STOCK_KEY)),
  };
}
