import { LockNotHeldError } from '../../locks/lock.ts';
import { asProblem, reasonOf, unreadableOf } from './away-server.ts';
import type { SaleCounts } from './lab/contract.ts';
import { ProblemError } from './problem.ts';
import type { SaleStep } from './sale.ts';

/** How far a holder has come: its steps, each with the stock that was read or written. */
export interface Progress {
  reached: Map<SaleStep, number | undefined>;
  /** The stock refused a holder that had lost its lock: its read or its write. */
  refusal?: ProblemError;
}

/** What an error means for the sale: it depends on how far the sale had come. */
export function explain(error: unknown, { reached, refusal }: Progress): ProblemError {
  const ending = refusal ?? reasonOf(error);
  const isSoldOut = (reached.get('read') ?? 1) <= 0;
  if (ending instanceof LockNotHeldError && isSoldOut)
    return new ProblemError('OUT_OF_STOCK', 'Sold out; the lock was lost on the way.');
  const definite = !reached.has('writing');
  // The first command that meets an unreadable key does nothing.
  if (unreadableOf(ending) !== undefined) return asProblem(ending, { definite: !reached.has('wrote'), when: '' });
  return asProblem(ending, { definite, when: definite ? 'before the sale was written' : 'while the sale was written' });
}

/** Under which count a sale is entered that ended so. */
export function outcomeOf({ code, problem }: ProblemError): Exclude<keyof SaleCounts, 'received' | 'sold'> {
  if (code === 'CLIENT_GONE') return 'clientGone';
  if (!problem.definite) return 'inDoubt';
  if (code === 'OUT_OF_STOCK') return 'soldOut';
  return code === 'LOCK_WAIT_TIMEOUT' ? 'lockTimeout' : 'failed';
}
