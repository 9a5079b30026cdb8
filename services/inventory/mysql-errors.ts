// What an error of mysql2 says of its server.

/** True when MySQL did not answer, or answered that it can't serve now; false for a bug in what it was asked. */
export function isMysqlUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // mysql2 marks as fatal what ends a connection.
  if ('fatal' in error && error.fatal === true) return true;
  return ('code' in error && unavailable.has(String(error.code))) || error.message === 'Pool is closed.';
}

/** True when it came of a MySQL that did not answer in time: asking once more would take as long again. */
export function isMysqlSilent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && silent.has(String(error.code))) || isMysqlSilent(error.cause);
}

/** What mysql2 says of a statement, and of a connection, that takes too long. */
const silent = new Set(['PROTOCOL_SEQUENCE_TIMEOUT', 'ETIMEDOUT']);

const unavailable = new Set([
  'PROTOCOL_SEQUENCE_TIMEOUT',
  'ER_ACCESS_DENIED_ERROR',
  'ER_BAD_DB_ERROR',
  'ER_CON_COUNT_ERROR',
  'ER_CONNECTION_KILLED',
  'ER_DBACCESS_DENIED_ERROR',
  'ER_NO_SUCH_THREAD',
  'ER_OPTION_PREVENTS_STATEMENT',
  'ER_QUERY_INTERRUPTED',
  'ER_SERVER_SHUTDOWN',
]);
