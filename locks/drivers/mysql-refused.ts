const refused = new Set(['ER_LOCK_DEADLOCK', 'ER_LOCK_WAIT_TIMEOUT']);

/**
 * True when the server would not let a transaction go on: it met others in a deadlock, or waited too long (50 s by
 * default). After a rollback nothing of it has happened; without one, what it did before the wait is still there.
 */
export const isRefused = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && refused.has(String(error.code));

/** Makes nothing of a refusal. Any other error is thrown on. */
export function unlessRefused(error: unknown): undefined {
  if (!isRefused(error)) throw error;
}
