// One sale, on a connection of its own.

import { request } from 'node:http';
import { readAnswer, type SaleAnswer, type SaleEnd } from '../evidence/answers.ts';
import { sharedClock } from './shared-clock.ts';
import type { TargetNode } from './target.ts';

export interface RunningSale {
  node: string;
  end: Promise<SaleEnd>;
  /** The client hangs up. */
  hangUp(): void;
}

/** Sends one sale straight to a node, on a connection of its own. */
export function sendSale(node: TargetNode): RunningSale {
  const sentAt = sharedClock();
  const gone = new AbortController();
  const end = new Promise<SaleEnd>((resolve) => {
    const finish = (end: SaleAnswer | { outcome: 'cutOff' }) => resolve({ ...end, sentAt, ms: sharedClock() - sentAt });
    const url = new URL('/inventory/sale', node.publicUrl);
    const outgoing = request(url, { method: 'POST', agent: false, signal: gone.signal }, (answer) => {
      let body = '';
      answer.setEncoding('utf8').on('data', (chunk) => {
        body += chunk;
      });
      answer.on('end', () => finish(readAnswer(answer.statusCode ?? 0, body)));
      answer.on('error', () => finish({ outcome: 'cutOff' }));
    });
    outgoing.on('error', () => finish({ outcome: 'cutOff' })).end();
  });
  return { node: node.name, end, hangUp: () => gone.abort() };
}
