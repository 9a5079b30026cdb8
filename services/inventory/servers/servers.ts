import type { Redis } from 'ioredis';
import type { Pool } from 'mysql2/promise';
import { openZookeeper } from '../../../locks/drivers/zookeeper-session.ts';
import { type Backend, backendOf } from '../../../locks/index.ts';
import type { RedisClient, Servers, Zookeeper } from '../../../locks/lock.ts';
import { ProblemError } from '../problem.ts';
import { type InventorySettings, lackingSetting, nodeName } from '../settings/settings.ts';
import { whyOneStore } from '../settings/stock-settings.ts';
import { connectMysql, endPool, type StockInMysql, stockInMysql, watchMysql } from './mysql.ts';
import { createOutageLog, type OutageLines } from './outage-log.ts';
import { connectMaster, sendTogether } from './redis-client.ts';

/** How many connections read and write the stock in MySQL outside of sales, at most. */
const STOCK_CONNECTIONS = 2;

export type NodeServers = ReturnType<typeof connectServers>;

/**
 * The servers that the locks of this node work with. Each but Redis is connected when a lock first needs it. The log
 * is told when MySQL, ZooKeeper or a master goes away and when it is back; who counts a pool's connections is told of each pool.
 */
export function connectServers(
  redis: RedisClient,
  settings: InventorySettings,
  log?: OutageLines,
  watchPool?: (name: string, pool: Pool) => void,
) {
  const pools: { locks?: Pool; stock?: Pool } = {};
  /** By their lease: that is the session's time, so another lease takes another session. */
  const sessions: Record<number, Zookeeper> = {};
  const outage = createOutageLog('ZooKeeper', log);
  const { MYSQL_URL } = settings;
  /** One for all pools, so that an outage is told once. */
  const mysqlInDoubt = MYSQL_URL === undefined ? undefined : watchMysql(MYSQL_URL, createOutageLog('MySQL', log));
  let masters: Redis[] | undefined;

  function openPool(name: keyof typeof pools, connections: number) {
    const pool = connectMysql(mustHave('MYSQL_URL'), connections, undefined, mysqlInDoubt);
    watchPool?.(name, pool);
    return pool;
  }

  const connect: Record<Backend, (leaseMs: number) => Partial<Servers>> = {
    redis: () => ({}),
    masters() {
      masters ??= mustHave('REDLOCK_URLS').map((url) => {
        const outage = createOutageLog(`Redis master ${new URL(url).host}`, log);
        return connectMaster(url).on('reconnecting', outage.began).on('ready', outage.ended);
      });
      return { masters };
    },
    mysql() {
      pools.locks ??= openPool('locks', settings.MYSQL_LOCK_CONNECTIONS);
      return { mysql: pools.locks };
    },
    zookeeper(sessionMs) {
      sessions[sessionMs] ??= openZookeeper({ url: mustHave('ZOOKEEPER_URL'), sessionMs, outage });
      return { zookeeper: sessions[sessionMs] };
    },
  };

  function mustHave<Name extends keyof InventorySettings>(name: Name): NonNullable<InventorySettings[Name]> {
    const value = settings[name];
    if (value === undefined) throw new Error(`${name} is not set.`);
    return value;
  }

  return {
    mysqlInDoubt,
    /** The stock in MySQL. It has connections of its own: those of the sales may all be waiting. */
    stockInMysql(): StockInMysql {
      const { STOCK_CACHE, MYSQL_LOCK_CONNECTIONS } = settings;
      pools.stock ??= openPool('stock', STOCK_CACHE === 'off' ? STOCK_CONNECTIONS : MYSQL_LOCK_CONNECTIONS);
      return stockInMysql(pools.stock);
    },
    /** Throws ProblemError when the lock needs a setting that this node was started without. */
    mustServe(lock: string) {
      const lacking = lackingSetting(lock, settings);
      const detail = `${lock} needs ${lacking}, which ${nodeName(settings)} was started without.`;
      if (lacking) throw new ProblemError('BAD_REQUEST', detail);
      const why = settings.STOCK_CACHE !== 'off' && whyOneStore(lock);
      if (why) throw new ProblemError('BAD_REQUEST', `${lock} ${why}: it needs STOCK_CACHE=off.`);
    },
    /**
     * What a lock with this lease, in milliseconds, works with: Redis, and what it keeps itself in. A new object, to which each
     * sale assigns more: to spread it would take ten times as long, 10 µs of each sale.
     */
    forLock: (lock: string, leaseMs: number) => Object.assign({ redis }, connect[backendOf(lock)](leaseMs)) as Servers,
    /** What sales send to Redis in this turn of the event loop leaves in one write. */
    sendTogether: () => sendTogether(redis),
    /** Ends what a server would keep for this node after its end. Resolves within a second, also when none answers. */
    async close() {
      await Promise.all(Object.values(sessions).map((session) => session.close()));
      await Promise.all(Object.values(pools).map(endPool));
    },
  };
}
