// One look at the stock, by GET /inventory, on a connection of its own.

import { remainingSchema } from '../../services/inventory/lab/contract.ts';
import { sharedClock } from './clock.ts';
import { network } from './network.ts';
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
  const finish = (answer: Omit<LookEnd, 'at'>) => {
    ended = { at: sharedClock(), ...answer };
    return ended;
  };
  const url = new URL('/inventory', node.publicUrl);
  const end = network()
    .request({ method: 'GET', url, signal: gone.signal })
    .then(
      ({ body }) => finish(readLook(body)),
      () => finish({}),
    );
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
