import type { Logger } from 'pino';
import type { RedisClient } from '../../locks/lock.ts';

/** Writes a line when Redis goes away, and one when it is back, with how long that took. */
export function logOutages(redis: RedisClient, log: Pick<Logger, 'warn' | 'info'>) {
  let awayFrom: number | undefined;
  // A client that the node ends itself does not try again.
  redis.on('reconnecting', () => {
    if (awayFrom !== undefined) return;
    awayFrom = performance.now();
    log.warn('Redis is away');
  });
  redis.on('ready', () => {
    if (awayFrom === undefined) return;
    log.info({ ms: Math.round(performance.now() - awayFrom) }, 'Redis is back');
    awayFrom = undefined;
  });
}
