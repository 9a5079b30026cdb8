import type { Redis } from 'ioredis';
import type { Pool } from 'mysql2/promise';
import { openZookeeper, type ZookeeperSession } from '../../locks/drivers/zookeeper-session.ts';
import { backendOf } from '../../locks/index.ts';
import type { RedisClient, Servers } from '../../locks/lock.ts';
import { connectMysql, endPool, stockInMysql } from './mysql.ts';
import { createOutageLog, type OutageLines } from './outage-log.ts';
import { connectMaster } from './redis-client.ts';
import type { InventorySettings } from './settings.ts';
import type { Stock } from './store.ts';

/** How many connections read and write the stock in MySQL outside of sales, at most. */
const STOCK_CONNECTIONS = 2;

export type NodeServers = ReturnType<typeof connectServers>;

/**
 * The servers that the locks of this node work with. Each but Redis is connected when a lock first asks for it. The log is told when MySQL
 * or ZooKeeper goes away and when it is back; who counts a pool's connections is told of each pool.
 */
export function connectServers(
  redis: RedisClient,
  settings: InventorySettings,
  log?: OutageLines,
  watchPool?: (name: string, pool: Pool) => void,
) {
  const pools: { locks?: Pool; stock?: Pool } = {};
  /** By their lease: that is the session's time, so another lease takes another session. */
  const sessions: Record<number, ZookeeperSession> = {};
  const outage = createOutageLog('ZooKeeper', log);
  const mysqlOutage = createOutageLog('MySQL', log);
  let masters: Redis[] | undefined;

  function connectMasters() {
    masters ??= mustHave('REDLOCK_URLS').map((url) => connectMaster(url));
    return masters;
  }

  function openPool(name: keyof typeof pools, connections: number) {
    const pool = connectMysql(mustHave('MYSQL_URL'), connections, undefined, mysqlOutage);
    watchPool?.(name, pool);
    return pool;
  }

  /**
   * A class, whose getters a spread leaves out: `{ ...options }` has Redis, and connects nothing. Only what a lock reads itself is
   * connected.
   */
  class ServersOfLock implements Servers {
    readonly redis = redis;
    readonly #leaseMs: number;

    constructor(leaseMs: number) {
      this.#leaseMs = leaseMs;
    }

    get masters() {
      return connectMasters();
    }

    get mysql() {
      pools.locks ??= openPool('locks', settings.MYSQL_LOCK_CONNECTIONS);
      return pools.locks;
    }

    get zookeeper() {
      const sessionMs = this.#leaseMs;
      sessions[sessionMs] ??= openZookeeper({ url: mustHave('ZOOKEEPER_URL'), sessionMs, outage });
      return sessions[sessionMs];
    }
  }

  function mustHave<Name extends keyof InventorySettings>(name: Name): NonNullable<InventorySettings[Name]> {
    const value = settings[name];
    if (value === undefined) throw new Error(`${name} is not set.`);
    return value;
  }

  return {
    mysqlOutage,
    /** The stock in MySQL. It has connections of its own: those of the sales may all be waiting. */
    stockInMysql(): Stock {
      pools.stock ??= openPool('stock', STOCK_CONNECTIONS);
      return stockInMysql(pools.stock);
    },
    /** Begins to connect to what this lock needs, so that its first sale need not wait. */
    connectFor(lock: string) {
      if (backendOf(lock) === 'masters') connectMasters();
    },
    /** What a lock with this lease is given, in milliseconds. */
    forLease: (leaseMs: number): Servers => new ServersOfLock(leaseMs),
    /** Ends what a server would keep for this node after its end. Resolves within a second, also when none answers. */
    async close() {
      await Promise.all(Object.values(sessions).map((session) => session.close()));
      await Promise.all(Object.values(pools).map(endPool));
    },
  };
}
