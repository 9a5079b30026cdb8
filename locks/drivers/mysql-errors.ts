// What an error of MySQL means.

export const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : '');

/** True when the server has said no, rather than nothing. */
export const isAnswer = (error: unknown) => error instanceof Error && 'sqlState' in error;

/**
 * True when the server would not let a transaction go on: it met others in a deadlock, or waited too long (50 s by
 * default). After a rollback nothing of it has happened; without one, what it did before the wait is still there.
 */
export const isRefused = (error: unknown) => ['ER_LOCK_DEADLOCK', 'ER_LOCK_WAIT_TIMEOUT'].includes(codeOf(error));

/** Makes nothing of a refusal. Any other error is thrown on. */
export function unlessRefused(error: unknown): undefined {
  if (!isRefused(error)) throw error;
}

/** True when one try found the row locked: by NOWAIT, which MariaDB calls a wait that took too long, or after a short wait. */
export const isTaken = (error: unknown) =>
  ['ER_LOCK_NOWAIT', 'ER_LOCK_WAIT_TIMEOUT', 'ABORT_ERR'].includes(codeOf(error));

/** True when it came of a MySQL that did not answer in time: asking once more would take as long again. */
export function isMysqlSilent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ['PROTOCOL_SEQUENCE_TIMEOUT', 'ETIMEDOUT'].includes(codeOf(error)) || isMysqlSilent(error.cause);
}
