import { LockNotHeldError } from '../../locks/lock.ts';
import { asProblem, reasonOf, unreadableOf } from './away-server.ts';
import type { SaleCounts } from './lab/contract.ts';
import { ProblemError } from './problem.ts';
import type { SaleStep } from './sale.ts';

/** The client hung up while its sale waited: nobody is there to be answered. */
export class ClientGoneError extends Error {
  readonly code = 'CLIENT_GONE';
}

/** How far a holder has come: its steps, each with the stock that was read or written. */
export interface Progress {
  reached: Map<SaleStep, number | undefined>;
  /** The stock refused a holder that had lost its lock: its read or its write. */
  refusal?: ProblemError;
}

export type SaleEnding = ProblemError | ClientGoneError;

/** What an error means for the sale: it depends on how far the sale had come. */
export function explain(error: unknown, { reached, refusal }: Progress): SaleEnding {
  const ending = refusal ?? reasonOf(error);
  if (ending instanceof ClientGoneError) return ending;
  const isSoldOut = (reached.get('read') ?? 1) <= 0;
  if (ending instanceof LockNotHeldError && isSoldOut)
    return new ProblemError('OUT_OF_STOCK', 'Sold out; the lock was lost on the way.');
  const definite = !reached.has('writing');
  // The first command that meets an unreadable key does nothing.
  if (unreadableOf(ending) !== undefined) return asProblem(ending, { definite: !reached.has('wrote'), when: '' });
  return asProblem(ending, { definite, when: definite ? 'before the sale was written' : 'while the sale was written' });
}

/** Under which count a sale is entered that ended so. */
export function outcomeOf(ending: SaleEnding): Exclude<keyof SaleCounts, 'received' | 'sold'> {
  if (ending instanceof ClientGoneError) return 'clientGone';
  if (!ending.problem.definite) return 'inDoubt';
  if (ending.code === 'OUT_OF_STOCK') return 'soldOut';
  return ending.code === 'LOCK_WAIT_TIMEOUT' ? 'lockTimeout' : 'failed';
}

export function hasTakenNothing(ending: SaleEnding): boolean {
  return ending instanceof ClientGoneError || ending.problem.definite;
}
