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
  const pools = new Map<string, Pool>();
  const sessions = new Map<number, ZookeeperSession>();
  const outage = createOutageLog('ZooKeeper', log);
  const mysqlOutage = createOutageLog('MySQL', log);
  let masters: Redis[] | undefined;

  function connectMasters() {
    masters ??= mustHave('REDLOCK_URLS').map((url) => connectMaster(url));
    return masters;
  }

  const poolOf = (name: 'locks' | 'stock', connections: number) =>
    keptIn(pools, name, () => {
      const pool = connectMysql(mustHave('MYSQL_URL'), connections, undefined, mysqlOutage);
      watchPool?.(name, pool);
      return pool;
    });

  /** Of a lock with this lease. The lease is the session's time, so another lease takes another session. */
  const sessionOf = (leaseMs: number) =>
    keptIn(sessions, leaseMs, () => openZookeeper({ url: mustHave('ZOOKEEPER_URL'), sessionMs: leaseMs, outage }));

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
      return poolOf('locks', settings.MYSQL_LOCK_CONNECTIONS);
    }

    get zookeeper() {
      return sessionOf(this.#leaseMs);
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
    stockInMysql: (): Stock => stockInMysql(poolOf('stock', STOCK_CONNECTIONS)),
    /** Begins to connect to what this lock needs, so that its first sale need not wait. */
    connectFor(lock: string) {
      if (backendOf(lock) === 'masters') connectMasters();
    },
    /** What a lock with this lease is given, in milliseconds. */
    forLease: (leaseMs: number): Servers => new ServersOfLock(leaseMs),
    /** Ends what a server would keep for this node after its end. Resolves within a second, also when none answers. */
    async close() {
      await Promise.all([...sessions.values()].map((session) => session.close()));
      await Promise.all([...pools.values()].map(endPool));
    },
  };
}

/** What is kept by this key, made when it is first asked for. */
function keptIn<Key, Value>(kept: Map<Key, Value>, key: Key, make: () => Value): Value {
  const value = kept.get(key) ?? make();
  kept.set(key, value);
  return value;
}
