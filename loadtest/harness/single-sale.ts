// One sale, on a connection of its own.

import { type BasketAnswer, type Ended, readAnswer, readBasketAnswer, type SaleAnswer } from '../evidence/answers.ts';
import { sharedClock } from './clock.ts';
import { network } from './network.ts';
import type { TargetNode } from './target.ts';

export interface RunningSale<Answer = SaleAnswer> {
  node: string;
  end: Promise<Ended<Answer>>;
  /** The client hangs up. */
  hangUp(): void;
}

/** Sends one sale straight to a node, on a connection of its own. */
export function sendSale(node: TargetNode): RunningSale {
  return send(node, undefined, readAnswer);
}

/** Sends the sale of several skus in the same way. */
export function sendBasket(node: TargetNode, skus: string[]): RunningSale<BasketAnswer> {
  return send(node, JSON.stringify({ skus }), readBasketAnswer);
}

function send<Answer>(
  node: TargetNode,
  json: string | undefined,
  read: (status: number, body: string) => Answer,
): RunningSale<Answer> {
  const sentAt = sharedClock();
  const gone = new AbortController();
  const url = new URL('/inventory/sale', node.publicUrl);
  let isOver = false;
  const finish = (end: Answer | { outcome: 'cutOff' }) => {
    isOver = true;
    return { ...end, sentAt, ms: sharedClock() - sentAt };
  };
  const end: Promise<Ended<Answer>> = network()
    .request({ method: 'POST', url, json, signal: gone.signal })
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
