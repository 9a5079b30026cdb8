// One sale, or one look at the stock, on a connection of its own.

import {
  type BasketAnswer,
  type Ended,
  type LookAnswer,
  readAnswer,
  readBasketAnswer,
  readLookAnswer,
  type SaleAnswer,
} from '../evidence/answers.ts';
import { sharedClock } from './clock.ts';
import { type HttpRequest, network } from './network.ts';
import type { TargetNode } from './target.ts';

export interface RunningSale<Answer = SaleAnswer> {
  node: string;
  end: Promise<Ended<Answer>>;
  /** The client hangs up. */
  hangUp(): void;
}

const sale = { method: 'POST', path: '/inventory/sale' } as const;

/** Sends one sale straight to a node, on a connection of its own. */
export const sendSale = (node: TargetNode) => send<SaleAnswer>(node, sale, readAnswer);

/** Sends the sale of several skus in the same way. */
export const sendBasket = (node: TargetNode, skus: string[]) =>
  send<BasketAnswer>(node, { ...sale, json: JSON.stringify({ skus }) }, readBasketAnswer);

/** Asks a node for the stock in the same way. */
export const sendLook = (node: TargetNode) =>
  send<LookAnswer>(node, { method: 'GET', path: '/inventory' }, readLookAnswer);

function send<Answer>(
  node: TargetNode,
  { path, ...request }: Pick<HttpRequest, 'method' | 'json'> & { path: string },
  read: (status: number, body: string) => Answer,
): RunningSale<Answer> {
  const sentAt = sharedClock();
  const gone = new AbortController();
  const url = new URL(path, node.publicUrl);
  let isOver = false;
  const finish = (end: Answer | { outcome: 'cutOff' }) => {
    isOver = true;
    return { ...end, sentAt, ms: sharedClock() - sentAt };
  };
  const end: Promise<Ended<Answer>> = network()
    .request({ ...request, url, signal: gone.signal })
    .then(
      ({ status, body }) => finish(read(status, body)),
      () => finish({ outcome: 'cutOff' }),
    );
  const hangUp = () => {
    // Of the thousands of sales of a drill most have ended.
    if (!isOver) gone.abort();
  };
  return { node: node.name, end, hangUp };
}
