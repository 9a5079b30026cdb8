// What a real process of a replay is started with, is told, and tells.

import type { Told } from '../../prove/process.ts';
import type { SaleScript } from '../../prove/sale.ts';
import type { Line } from '../../virtual/world.ts';

export interface SellerTask {
  /** A, B, … */
  name: string;
  /** A built-in lock by its name, or the file of another one. */
  lock: { name: string } | { file: string };
  sales: number;
  script: SaleScript;
  /** Where it reaches Redis: for commands, and to listen. */
  ports: Record<Line, number>;
}

export type ToSeller = { type: 'begin' } | { type: 'hang up' };

export type FromSeller =
  | { type: 'ready' }
  | { type: 'told'; told: Omit<Told, 'at'> }
  /** The reply is JSON, or the message of an error. */
  | { type: 'reply'; line: Line; reply: string }
  | { type: 'message'; channel: string; message: string };

/** A command that a client sends for its connection's sake: the search has no connections, so it is neither held nor told. */
export const isOfConnection = (verb: string) => /^(HELLO|AUTH|SELECT|CLIENT|INFO|PING|QUIT)$/i.test(verb);
