import { LockNotHeldError, NotReplicatedError, TooManyConflictsError } from '../../locks/lock.ts';
import { awayServer, refusalOf, unreadableOf } from './away-server.ts';
import { ExternalLockFault } from './external-lock-fault.ts';
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
  const definite = !reached.has('writing');
  const ending = refusal ?? (isAbort(error) ? error.cause : error);
  if (ending instanceof ProblemError || ending instanceof ClientGoneError) return ending;
  if (ending instanceof LockNotHeldError) {
    const isSoldOut = (reached.get('read') ?? 1) <= 0;
    if (isSoldOut) return new ProblemError('OUT_OF_STOCK', 'Sold out; the lock was lost on the way.');
    return new ProblemError('LOCK_NOT_HELD', ending.message, { definite, cause: ending });
  }
  if (ending instanceof NotReplicatedError) {
    // The write may be in both servers by now, or in one of them: nothing is undone that another failover would forget in turn.
    const what = definite
      ? 'the lock: nothing was sold'
      : 'the sale: a failover may forget it, and the unit may be gone';
    return new ProblemError('NOT_REPLICATED', `No replica has confirmed ${what}.`, { definite, cause: ending });
  }
  if (ending instanceof TooManyConflictsError) {
    return new ProblemError('TOO_MANY_CONFLICTS', ending.message, { retryAfterMs: 1000, cause: ending });
  }
  if (ending instanceof ExternalLockFault) {
    return new ProblemError('LOCK_FAILED', `${ending.message}.`, { definite, cause: ending });
  }
  const server = awayServer(ending);
  if (server) {
    const when = definite ? 'before the sale was written' : 'while the sale was written';
    const refusal = refusalOf(ending);
    const why = refusal ? `refused it ${when}: ${refusal}` : `did not answer ${when}.`;
    return new ProblemError('STORE_UNAVAILABLE', `${server} ${why}`, { definite, cause: ending });
  }
  const unreadable = unreadableOf(ending);
  // The first command that meets such a key does nothing.
  if (unreadable && !reached.has('wrote'))
    return new ProblemError('DATA_UNREADABLE', `Redis refused it: ${unreadable}`, { cause: ending });
  return new ProblemError('INTERNAL_ERROR', 'The sale failed; the log says why.', { definite, cause: ending });
}

/**
 * What an error means for one who only looks at the stock. What was read is not answered when the lock was lost meanwhile: a sale may have
 * been between its read and its write.
 */
export function explainReading(error: unknown): unknown {
  const ending = isAbort(error) ? error.cause : error;
  if (!(ending instanceof LockNotHeldError)) return ending;
  const detail = 'The read lock was lost before the stock was answered: a sale may have written meanwhile.';
  return new ProblemError('LOCK_NOT_HELD', detail, { cause: ending });
}

/** Under which count a sale is entered that ended so. */
export function outcomeOf(ending: SaleEnding): Exclude<keyof SaleCounts, 'received' | 'sold'> {
  if (ending instanceof ClientGoneError) return 'clientGone';
  if (!ending.problem.definite) return 'inDoubt';
  if (ending.code === 'OUT_OF_STOCK') return 'soldOut';
  return ending.code === 'LOCK_WAIT_TIMEOUT' ? 'lockTimeout' : 'failed';
}

/** True when the sale has certainly taken nothing. */
export function hasTakenNothing(ending: SaleEnding): boolean {
  return ending instanceof ClientGoneError || ending.problem.definite;
}

/** The error that `timers/promises` rejects with when a signal aborts; its cause is the signal's reason. */
function isAbort(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === 'ABORT_ERR';
}
