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

/** The most connections that read and write the stock in MySQL outside of sales. */
const STOCK_CONNECTIONS = 2;

export type NodeServers = ReturnType<typeof connectServers>;

/**
 *
 * The servers that this node's locks work with. Except for Redis, each is connected when a lock first needs it. Outages of
 * MySQL, ZooKeeper and masters are logged; `onPool` is called for each pool.
 *
 */
export function connectServers(
  redis: RedisClient,
  settings: InventorySettings,
  log?: OutageLines,
  watchPool?: (name: string, pool: Pool) => void,
) {
  const pools: { locks?: Pool; stock?: Pool } = {};
  /** By lease: it is the session timeout, so another lease takes another session. */
  const sessions: Record<number, Zookeeper> = {};
  const outage = createOutageLog('ZooKeeper', log);
  const { MYSQL_URL } = settings;
  /** One for all pools, so that an outage is logged once. */
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
    /** The stock in MySQL. It has separate connections, because those of the sales may all be waiting. */
    stockInMysql(): StockInMysql {
      const { STOCK_CACHE, MYSQL_LOCK_CONNECTIONS } = settings;
      pools.stock ??= openPool('stock', STOCK_CACHE === 'off' ? STOCK_CONNECTIONS : MYSQL_LOCK_CONNECTIONS);
      return stockInMysql(pools.stock);
    },
    /** Throws ProblemError if the lock needs a setting that this node was started without. */
    mustServe(lock: string) {
      const lacking = lackingSetting(lock, settings);
      const detail = `${lock} needs ${lacking}, which ${nodeName(settings)} was started without.`;
      if (lacking) throw new ProblemError('BAD_REQUEST', detail);
      const why = settings.STOCK_CACHE !== 'off' && whyOneStore(lock);
      if (why) throw new ProblemError('BAD_REQUEST', `${lock} ${why}: it needs STOCK_CACHE=off.`);
    },
    /**
     *
     * The servers for a lock with this lease, in milliseconds: Redis and the lock's backend. A new object, to which each sale
     * assigns more: spreading it would take ten times as long, 10 µs per sale.
     *
     */
    forLock: (lock: string, leaseMs: number) => Object.assign({ redis }, connect[backendOf(lock)](leaseMs)) as Servers,
    /** Sends everything from this turn of the event loop to Redis in a single write. */
    sendTogether: () => sendTogether(redis),
    /** Closes what a server would keep for this node after its exit. Resolves within a second, even if no server replies. */
    async close() {
      await Promise.all(Object.values(sessions).map((session) => session.close()));
      await Promise.all(Object.values(pools).map(endPool));
    },
  };
}
