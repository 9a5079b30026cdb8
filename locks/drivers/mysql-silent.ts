const silent = new Set(['PROTOCOL_SEQUENCE_TIMEOUT', 'ETIMEDOUT']);

/** True when it came of a MySQL that did not answer in time: asking once more would take as long again. */
export function isMysqlSilent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && silent.has(String(error.code))) || isMysqlSilent(error.cause);
}
