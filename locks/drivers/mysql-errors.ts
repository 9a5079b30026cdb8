// What a MySQL error means.

export const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : '');

/** True if the server replied with an error, rather than not at all. */
export const isAnswer = (error: unknown) => error instanceof Error && 'sqlState' in error;

/**
 * True if the server aborted a statement because of a deadlock or a lock wait that took too long (50 s by default). If the
 * server rolled the transaction back, none of its changes remain; if it did not, those made before the wait do.
 */
export const isRefused = (error: unknown) => ['ER_LOCK_DEADLOCK', 'ER_LOCK_WAIT_TIMEOUT'].includes(codeOf(error));

/** Ignores an error reply. Throws any other error. */
export function unlessRefused(error: unknown): undefined {
  if (!isRefused(error)) throw error;
}

/**
 * True if a single try found the row locked: with NOWAIT, which MariaDB reports as a lock wait timeout, or after a short wait.
 */
export const isTaken = (error: unknown) =>
  ['ER_LOCK_NOWAIT', 'ER_LOCK_WAIT_TIMEOUT', 'ABORT_ERR'].includes(codeOf(error));

/** True if MySQL did not reply in time: another try would take as long again. */
export function isMysqlSilent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ['PROTOCOL_SEQUENCE_TIMEOUT', 'ETIMEDOUT'].includes(codeOf(error)) || isMysqlSilent(error.cause);
}
