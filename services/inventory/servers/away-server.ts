// What an error means: which server did not answer, or refused, and what a client is told.

import type { ZodError } from 'zod';
import { ZookeeperUnavailableError } from '../../../locks/drivers/zookeeper-unavailable.ts';
import { LockNotHeldError, NoMajorityError, NotReplicatedError, TooManyConflictsError } from '../../../locks/lock.ts';
import { ExternalLockFault, ProblemError } from '../problem.ts';

/** How many causes of an error are looked at: one may name itself. */
const MOST_CAUSES = 8;

/** The reason of a wait that was aborted, where the error is that of such a wait (`timers/promises` has it so). */
export const reasonOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error && error.code === 'ABORT_ERR' ? error.cause : error;

interface Fate {
  /** It has certainly written nothing. */
  definite: boolean;
  /** When that was, at the end of a sentence. */
  when: string;
}

/** What zod says of an input. Known by its name, so that a virtual node, which is given none, does not load it. */
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
    const what = definite
      ? 'the lock: nothing was sold'
      : 'the sale: a failover may forget it, and the unit may be gone';
    return new ProblemError('NOT_REPLICATED', `No replica has confirmed ${what}.`, { definite, cause });
  }
  const server = awayServer(cause);
  if (server) {
    const refusal = refusalOf(cause);
    const [refuses, isSilent] = when
      ? [`refused it ${when}`, `did not answer ${when}`]
      : ['refuses', 'does not answer'];
    const why = refusal ? `${refuses}: ${refusal}` : `${isSilent}.`;
    return new ProblemError('STORE_UNAVAILABLE', `${server} ${why}`, { definite, cause });
  }
  const unreadable = unreadableOf(cause);
  if (unreadable) return new ProblemError('DATA_UNREADABLE', `Redis refuses: ${unreadable}`, { definite, cause });
  return new ProblemError('INTERNAL_ERROR', 'The log says why.', { definite: fate?.definite ?? false, cause });
}

/** The one place that knows which server an error says is away, itself or by its cause. Undefined for a bug. */
export function awayServer(error: unknown): 'Redis' | 'MySQL' | 'ZooKeeper' | undefined {
  for (const cause of causesOf(error)) {
    if (cause instanceof ZookeeperUnavailableError) return 'ZooKeeper';
    if (isMysqlUnavailable(cause)) return 'MySQL';
    if (isRefusal(cause) || isRedisUnavailable(cause)) return 'Redis';
  }
  return undefined;
}

/** What Redis has answered in the place of carrying a command out, by which nothing is done. Undefined when it answered nothing of the kind. */
export const refusalOf = (error: unknown): string | undefined => causesOf(error).find(isRefusal)?.message;

/** What Redis has answered to a command for which a key holds something else than it must: a stock that is no number, say. */
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

/** True when a server did not answer, or can't serve now; false for a bug in what it was asked. */
export const isStoreUnavailable = (error: unknown): boolean => awayServer(error) !== undefined;

/** Redis 6 has what a script was refused behind the words of its own: `ERR Error running script (…): -OOM …`. */
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

/** True when the system could not make a connection, or lost it. Files are read and written by the same names, with other codes. */
function isConnectionError({ syscall, code = '' }: NodeJS.ErrnoException): boolean {
  if (syscall === 'connect' || syscall === 'getaddrinfo') return true;
  return syscall !== undefined && /^(ECONN|EHOST|ENET|ENOTCONN|EPIPE|ETIMEDOUT)/.test(code);
}

/** True when MySQL did not answer, or can't serve now; false for a bug in what it was asked. */
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
