// One sale, on a connection of its own.

import { request } from 'node:http';
import { type BasketAnswer, type Ended, readAnswer, readBasketAnswer, type SaleAnswer } from '../evidence/answers.ts';
import { sharedClock } from './shared-clock.ts';
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
  const end = new Promise<Ended<Answer>>((resolve) => {
    const finish = (end: Answer | { outcome: 'cutOff' }) => resolve({ ...end, sentAt, ms: sharedClock() - sentAt });
    const url = new URL('/inventory/sale', node.publicUrl);
    const headers = json === undefined ? {} : { 'Content-Type': 'application/json' };
    const outgoing = request(url, { method: 'POST', agent: false, signal: gone.signal, headers }, (answer) => {
      let body = '';
      answer.setEncoding('utf8').on('data', (chunk) => {
        body += chunk;
      });
      answer.on('end', () => finish(read(answer.statusCode ?? 0, body)));
      answer.on('error', () => finish({ outcome: 'cutOff' }));
    });
    outgoing.on('error', () => finish({ outcome: 'cutOff' })).end(json);
  });
  return { node: node.name, end, hangUp: () => gone.abort() };
}
