import { ZookeeperUnavailableError } from '../../locks/drivers/zookeeper-unavailable.ts';
import { NoMajorityError } from '../../locks/lock.ts';
import { isMysqlUnavailable } from './mysql-errors.ts';

/** How many causes of an error are looked at: one may name itself. */
const MOST_CAUSES = 8;

/**
 * The one place that knows which server an error says is away, itself or by its cause: it did not answer, or can't serve now.
 * Undefined for a bug.
 */
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
  causesOf(error).find(({ name, message }) => name === 'ReplyError' && /WRONGTYPE|not an integer/.test(message))
    ?.message;

function causesOf(error: unknown): Error[] {
  const causes: Error[] = [];
  for (let cause = error; cause instanceof Error && causes.length <= MOST_CAUSES; cause = cause.cause)
    causes.push(cause);
  return causes;
}

/** True when a server did not answer, or answered that it can't serve now; false for a bug in what it was asked. */
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
function isConnectionError(error: NodeJS.ErrnoException): boolean {
  if (error.syscall === 'connect' || error.syscall === 'getaddrinfo') return true;
  return error.syscall !== undefined && lostConnection.has(error.code ?? '');
}

const lostConnection = new Set([
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETRESET',
  'ENETUNREACH',
  'ENOTCONN',
  'EPIPE',
  'ETIMEDOUT',
]);
