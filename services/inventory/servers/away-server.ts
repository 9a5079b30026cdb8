// What an error means: which server did not reply or refused, and what the client is told.

import type { ZodError } from 'zod';
import { ZookeeperUnavailableError } from '../../../locks/drivers/zookeeper-unavailable.ts';
import { LockNotHeldError, NoMajorityError, NotReplicatedError, TooManyConflictsError } from '../../../locks/lock.ts';
import { ExternalLockFault, ProblemError } from '../problem.ts';

/** The most causes of an error to follow: a cause may reference itself. */
const MOST_CAUSES = 8;

/** The reason of an aborted wait, if the error comes from one (as `timers/promises` does it). */
export const reasonOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error && error.code === 'ABORT_ERR' ? error.cause : error;

interface Fate {
  /** True if the work has certainly written nothing. */
  definite: boolean;
  /** When that was, to end a sentence. */
  when: string;
}

/** A zod validation error. Detected by name, so that a simulated node, which never gets one, does not load zod. */
const isOfInput = (error: unknown): error is ZodError => error instanceof Error && error.name === 'ZodError';

export function asProblem(error: unknown, fate?: Fate): ProblemError {
  const cause = reasonOf(error);
  const { definite = true, when } = fate ?? {};
  if (cause instanceof ProblemError) return cause;
  if (isOfInput(cause)) {
    const issue = cause.issues[0];
    const path = issue?.path.join('.');
    return new ProblemError('BAD_REQUEST', `${path ? `${path}: ` : ''}${issue?.message}.`);
  }
  if (cause instanceof LockNotHeldError || cause instanceof TooManyConflictsError)
    return new ProblemError(cause.code, cause.message, { definite, cause });
  if (cause instanceof ExternalLockFault) return new ProblemError(cause.code, `${cause.message}.`, { definite, cause });
  if (cause instanceof NotReplicatedError) {
    // The write may be in both servers by now, or in one of them: nothing is undone that another failover would forget in turn.
    const what = definite ? 'the lock: nothing was sold' : 'the sale: a failover may lose it, and the unit may be gone';
    return new ProblemError('NOT_REPLICATED', `No replica has confirmed ${what}.`, { definite, cause });
  }
  const server = awayServer(cause);
  if (server) {
    const refusal = refusalOf(cause);
    const [refuses, isSilent] = when ? [`refused it ${when}`, `did not reply ${when}`] : ['refuses', 'does not reply'];
    const why = refusal ? `${refuses}: ${refusal}` : `${isSilent}.`;
    return new ProblemError('STORE_UNAVAILABLE', `${server} ${why}`, { definite, cause });
  }
  const unreadable = unreadableOf(cause);
  if (unreadable) return new ProblemError('DATA_UNREADABLE', `Redis refuses: ${unreadable}`, { definite, cause });
  return new ProblemError('INTERNAL_ERROR', "See the node's log.", { definite: fate?.definite ?? false, cause });
}

/** The server that an error or its causes report as unavailable; the one place that knows. Undefined for a bug. */
export function awayServer(error: unknown): 'Redis' | 'MySQL' | 'ZooKeeper' | undefined {
  for (const cause of causesOf(error)) {
    if (cause instanceof ZookeeperUnavailableError) return 'ZooKeeper';
    if (isMysqlUnavailable(cause)) return 'MySQL';
    if (isRefusal(cause) || isRedisUnavailable(cause)) return 'Redis';
  }
  return undefined;
}

/** Redis' reason for refusing a command without executing it. Undefined if it did not refuse. */
export const refusalOf = (error: unknown): string | undefined => causesOf(error).find(isRefusal)?.message;

/** Redis' error about a key with an invalid value, such as a stock that is not a number. */
export const unreadableOf = (error: unknown): string | undefined =>
  causesOf(error).find(
    ({ name, message }) => name === 'ReplyError' && /WRONGTYPE|not an integer|would overflow/.test(message),
  )?.message;

function causesOf(error: unknown): Error[] {
  const causes: Error[] = [];
  for (let cause = error; cause instanceof Error && causes.length <= MOST_CAUSES; cause = cause.cause)
    causes.push(cause);
  return causes;
}

/** True if a server did not reply or can't serve now; false for a bug in the request. */
export const isStoreUnavailable = (error: unknown): boolean => awayServer(error) !== undefined;

/** Redis 6 puts the reason why a script was refused after its own words: `ERR Error running script (…): -OOM …`. */
const refused =
  /(^|: -)(LOADING|BUSY|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|MISCONF|NOREPLICAS|OOM|NOAUTH|NOPERM|WRONGPASS) /;
const isRefusal = ({ name, message }: Error) => name === 'ReplyError' && refused.test(message);

function isRedisUnavailable(error: Error): boolean {
  return (
    error instanceof NoMajorityError ||
    isConnectionError(error) ||
    error.name === 'MaxRetriesPerRequestError' ||
    /^(Connection is closed|Stream isn't writeable|Socket timeout|Command aborted|connect ETIMEDOUT|Cluster isn't ready|Too many Cluster redirections)/.test(
      error.message,
    )
  );
}

/** True if the system could not connect, or lost the connection. File operations have the same names, with other codes. */
function isConnectionError({ syscall, code = '' }: NodeJS.ErrnoException): boolean {
  if (syscall === 'connect' || syscall === 'getaddrinfo') return true;
  return syscall !== undefined && /^(ECONN|EHOST|ENET|ENOTCONN|EPIPE|ETIMEDOUT)/.test(code);
}

/** True if MySQL did not reply or can't serve now; false for a bug in the request. */
export function isMysqlUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // mysql2 marks as fatal what ends a connection.
  if ('fatal' in error && error.fatal === true) return true;
  return ('code' in error && unavailable.has(String(error.code))) || error.message === 'Pool is closed.';
}

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
