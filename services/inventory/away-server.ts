import { ReplyError } from 'ioredis';
import { ZookeeperUnavailableError } from '../../locks/drivers/zookeeper-session.ts';
import { NoMajorityError } from '../../locks/lock.ts';
import { isMysqlUnavailable } from './mysql.ts';

/** The one place that knows which server an error says is away: it did not answer, or can't serve now. Undefined for a bug. */
export function awayServer(error: unknown): 'Redis' | 'MySQL' | 'ZooKeeper' | undefined {
  if (error instanceof ZookeeperUnavailableError) return 'ZooKeeper';
  if (isMysqlUnavailable(error)) return 'MySQL';
  return isRedisUnavailable(error) ? 'Redis' : undefined;
}

/** True when a server did not answer, or answered that it can't serve now; false for a bug in what it was asked. */
export const isStoreUnavailable = (error: unknown): boolean => awayServer(error) !== undefined;

function isRedisUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof ReplyError) {
    return /^(LOADING|BUSY|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|MISCONF|NOREPLICAS|OOM|NOAUTH|WRONGPASS) /.test(
      error.message,
    );
  }
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
