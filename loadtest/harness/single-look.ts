// One look at the stock, by GET /inventory, on a connection of its own.

import { request } from 'node:http';
import { remainingSchema } from '../../services/inventory/lab/contract.ts';
import { sharedClock } from './shared-clock.ts';
import type { TargetNode } from './target.ts';

/** What was answered, and when on the shared clock. `remaining` is missing when it was refused or cut off, `code` says why it was refused. */
export interface LookEnd {
  at: number;
  remaining?: number;
  code?: string;
}

export interface Look {
  end: Promise<LookEnd>;
  /** How it ended; undefined until then. */
  ended(): LookEnd | undefined;
  /** The client hangs up. */
  hangUp(): void;
}

/** Asks a node for the stock, straight. */
export function sendLook(node: TargetNode): Look {
  const gone = new AbortController();
  let ended: LookEnd | undefined;
  const end = new Promise<LookEnd>((resolve) => {
    const finish = (answer: Omit<LookEnd, 'at'>) => {
      ended ??= { at: sharedClock(), ...answer };
      resolve(ended);
    };
    const url = new URL('/inventory', node.publicUrl);
    const outgoing = request(url, { agent: false, signal: gone.signal }, (answer) => {
      let body = '';
      answer.setEncoding('utf8').on('data', (chunk) => {
        body += chunk;
      });
      answer.on('end', () => finish(readLook(body)));
      answer.on('error', () => finish({}));
    });
    outgoing.on('error', () => finish({})).end();
  });
  return { end, ended: () => ended, hangUp: () => gone.abort() };
}

function readLook(body: string): Omit<LookEnd, 'at'> {
  try {
    const answer: unknown = JSON.parse(body);
    const read = remainingSchema.safeParse(answer);
    if (read.success) return { remaining: read.data.remaining };
    return { code: String((answer as { code?: unknown }).code) };
  } catch {
    return { code: 'NONSENSE' };
  }
}
