// The sales of a drill that goes step by step: sent one by one, and watched in what the nodes record.

import type { SaleEvent } from '../../services/inventory/lab/contract.ts';
import type { BasketAnswer, SaleEnd } from '../evidence/answers.ts';
import { isSame } from '../evidence/history.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import { sharedClock, startTimer, stopTimer } from './clock.ts';
import type { SaleScript } from './lab-client.ts';
import { type RunningSale, sendBasket, sendLook, sendSale } from './single-sale.ts';
import type { TargetNode } from './target.ts';

/** How long a sale that no lock delays may take to be inside, in milliseconds. */
const STEP_LIMIT_MS = 5_000;
/** The answer to a sale when no replica has confirmed its lock, or its write. */
export const NOT_REPLICATED = 'NOT_REPLICATED';

export type InsideSale = RunningSale & { saleId: string };

export interface WatchedSalesOptions {
  /** The events of all nodes, those of killed ones included. */
  events: () => Promise<SaleEvent[]>;
  /** Looks until there is something to be found, or resolves with undefined after the limit. Rejects when the drill is over. */
  waitFor: <T>(look: () => Promise<T | undefined>, limitMs: number) => Promise<T | undefined>;
}

export function createWatchedSales({ events, waitFor }: WatchedSalesOptions) {
  const sales: RunningSale[] = [];
  const others: { hangUp(): void }[] = [];

  /** Sends a sale to a node. */
  function sell(node: TargetNode): RunningSale {
    const sale = sendSale(node);
    sales.push(sale);
    return sale;
  }

  /** Sends the sale of several skus to a node. */
  function sellBasket(node: TargetNode, skus: string[]): RunningSale<BasketAnswer> {
    const basket = sendBasket(node, skus);
    others.push(basket);
    return basket;
  }

  /** Asks a node for the stock, as a buyer does who only looks. */
  function look(node: TargetNode) {
    const sent = sendLook(node);
    others.push(sent);
    return sent;
  }

  /** Sends a sale to a node, whose client hangs up when it has no answer within the limit. Resolves when it has ended. */
  async function sellWithin(node: TargetNode, limitMs: number): Promise<SaleEnd> {
    const sale = sell(node);
    const timer = startTimer(sale.hangUp, limitMs);
    return sale.end.finally(() => stopTimer(timer));
  }

  /**
   * Sends a sale that follows the script, and resolves when it is inside, and held there if the script says so. If the lock keeps it out for `limitMs`, its client
   * hangs up, and this resolves with undefined; also when it is refused because no replica has confirmed its lock. Throws
   * NotStagedError when it has ended otherwise without being held inside.
   */
  async function trySellInside(node: TargetNode, script: SaleScript, limitMs: number): Promise<InsideSale | undefined> {
    const before = new Set((await node.history()).events.map(({ saleId }) => saleId));
    const heldBefore = (await node.state()).held;
    await node.script(script);
    const sale = sell(node);
    let end: SaleEnd | undefined;
    void sale.end.then((its) => (end = its));
    const seen = await waitFor(async () => {
      const hasEnded = end !== undefined;
      const { events } = await node.history();
      const saleId = events.find((event) => isInside(event) && !before.has(event.saleId))?.saleId;
      if (saleId === undefined) return hasEnded ? 'never inside' : undefined;
      // A sale without a lock has begun, and comes to its business later: what is resumed before that is not held yet.
      if (script.untilResumed && !hasEnded && (await node.state()).held <= heldBefore) return undefined;
      return { saleId, events: events.filter((event) => event.saleId === saleId) };
    }, limitMs);
    if (seen === 'never inside') {
      if (end?.outcome === 'lockTimeout' || isNotReplicated(end)) return undefined;
      throw notInside(node, end);
    }
    if (seen?.events.some(({ type }) => type === 'left')) throw notInside(node);
    if (seen) return { ...sale, saleId: seen.saleId };
    sale.hangUp();
    await sale.end;
  }

  /** Sends a sale that follows the script and that no other keeps out. Throws NotStagedError when it is not inside in time. */
  async function sellInside(node: TargetNode, script: SaleScript): Promise<InsideSale> {
    const from = sharedClock();
    const sale = await trySellInside(node, script, STEP_LIMIT_MS);
    if (sale !== undefined) return sale;
    // A replica that is there and does not confirm in time: the machine is busy.
    if (await isRefused(node, NOT_REPLICATED, from)) {
      throw new NotStagedError(`No replica confirmed the lock of the sale on ${node.name} in time.`, { isLate: true });
    }
    throw notInside(node);
  }

  /** Throws NotStagedError when the sale has left already, or never was inside. */
  async function mustBeInside(sale: InsideSale) {
    const own = (await events()).filter((event) => isSame(event, sale));
    if (own.some(isInside) && !own.some(({ type }) => type === 'left')) return;
    throw new NotStagedError(`Sale ${sale.saleId} on ${sale.node} was not inside any more.`);
  }

  /** Throws NotStagedError when no sale of this node waits or has waited since `from`: refused is not kept out. */
  async function mustHaveWaited(node: TargetNode, from: number) {
    const own = (await node.history()).events.filter(({ at }) => at >= from);
    const ended = (saleId: string) => own.find((event) => event.saleId === saleId && event.type === 'failed')?.code;
    const waited = own.some(
      ({ type, saleId }) =>
        type === 'waiting' && [undefined, 'CLIENT_GONE', 'LOCK_WAIT_TIMEOUT'].includes(ended(saleId)),
    );
    if (!waited) throw new NotStagedError(`No sale on ${node.name} waited for the lock.`);
  }

  async function isRefused(node: TargetNode, code: string, from = 0): Promise<boolean> {
    const { events } = await node.history();
    return events.some((event) => event.type === 'failed' && event.code === code && event.at >= from);
  }

  /** Throws NotStagedError when no sale of this node was refused because no replica has confirmed its lock. */
  async function mustBeUnconfirmed(node: TargetNode) {
    if (!(await isRefused(node, NOT_REPLICATED))) throw notInside(node);
  }

  return {
    sell,
    sellBasket,
    look,
    sellWithin,
    trySellInside,
    sellInside,
    mustBeInside,
    mustHaveWaited,
    mustBeUnconfirmed,
    /** All clients hang up. */
    hangUp() {
      for (const sale of [...sales, ...others]) sale.hangUp();
    },
    /** Resolves with how each sale of one sku ended, once all have. */
    ends: () => Promise.all(sales.map(({ end }) => end)),
  };
}

function notInside({ name }: TargetNode, end?: SaleEnd) {
  const answer = end && 'code' in end ? `: it was answered ${end.code}` : '';
  return new NotStagedError(`The sale on ${name} did not stay inside${answer}.`);
}

function isNotReplicated(end: SaleEnd | undefined): boolean {
  return end !== undefined && 'code' in end && end.code === NOT_REPLICATED;
}

/** A sale under a lock has read the stock by the time it can be broken; one without a lock reads it in its only step. */
function isInside({ type }: SaleEvent) {
  return type === 'read' || type === 'began';
}
