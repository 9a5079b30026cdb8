import type { Redis } from 'ioredis';
import type { Pool } from 'mysql2/promise';
import { openZookeeper, type ZookeeperSession } from '../../locks/drivers/zookeeper-session.ts';
import { backendOf } from '../../locks/index.ts';
import type { RedisClient, Servers } from '../../locks/lock.ts';
import { askMysql, connectMysql, endPool, stockInMysql } from './mysql.ts';
import { askWhenInDoubt, createOutageLog, type OutageLines } from './outage-log.ts';
import { connectMaster } from './redis-client.ts';
import type { InventorySettings } from './settings.ts';
import type { Stock } from './store.ts';

/** How many connections read and write the stock in MySQL outside of sales, at most. */
const STOCK_CONNECTIONS = 2;

export type NodeServers = ReturnType<typeof connectServers>;

/** Who hears of these servers: a log, when MySQL or ZooKeeper goes away and when it is back, and who counts a pool's connections. */
export interface ServersWatch {
  log?: OutageLines;
  watchPool?: (name: string, pool: Pool) => void;
}

/** The servers that the locks of this node work with. Each but Redis is connected when a lock first asks for it. */
export function connectServers(redis: RedisClient, settings: InventorySettings, { log, watchPool }: ServersWatch = {}) {
  let masters: Redis[] | undefined;
  const pools = new Map<string, Pool>();
  // The jobs have sessions of their own: their lease is not that of the sales.
  const [sessions, jobSessions] = [new Map<number, ZookeeperSession>(), new Map<number, ZookeeperSession>()];
  const outage = createOutageLog('ZooKeeper', log);
  const mysqlInDoubt = askWhenInDoubt(() => askMysql(mustHave('MYSQL_URL')), createOutageLog('MySQL', log));

  function connectMasters() {
    masters ??= mustHave('REDLOCK_URLS').map((url) => connectMaster(url));
    return masters;
  }

  function poolOf(name: 'locks' | 'stock', connections: number) {
    const pool = pools.get(name) ?? connectMysql(mustHave('MYSQL_URL'), connections, undefined, mysqlInDoubt);
    if (!pools.has(name)) watchPool?.(name, pool);
    pools.set(name, pool);
    return pool;
  }

  /** The lease is the session's time, so another lease takes another session. */
  function sessionOf(all: Map<number, ZookeeperSession>, leaseMs: number) {
    const session = all.get(leaseMs) ?? openZookeeper({ url: mustHave('ZOOKEEPER_URL'), sessionMs: leaseMs, outage });
    all.set(leaseMs, session);
    return session;
  }

  /** Closes the sessions with another lease. Nobody may hold by them. */
  function endOthers(all: Map<number, ZookeeperSession>, leaseMs: number) {
    for (const [each, session] of all) {
      if (each === leaseMs) continue;
      all.delete(each);
      void session.close();
    }
  }

  /**
   * A class, whose getters a spread leaves out: `{ ...options }` has Redis, and connects nothing. Only what a lock reads itself is
   * connected.
   */
  class ServersOfLock implements Servers {
    readonly redis = redis;
    readonly #session: () => ZookeeperSession;

    constructor(session: () => ZookeeperSession) {
      this.#session = session;
    }

    get masters() {
      return connectMasters();
    }

    get mysql() {
      return poolOf('locks', settings.MYSQL_LOCK_CONNECTIONS);
    }

    get zookeeper() {
      return this.#session();
    }
  }

  function mustHave<Name extends keyof InventorySettings>(name: Name): NonNullable<InventorySettings[Name]> {
    const value = settings[name];
    if (value === undefined) throw new Error(`${name} is not set.`);
    return value;
  }

  return {
    /** To be called when MySQL may be away. */
    mysqlInDoubt,
    /** The stock in MySQL. It has connections of its own: those of the sales may all be waiting. */
    stockInMysql: (): Stock => stockInMysql(poolOf('stock', STOCK_CONNECTIONS)),
    /** Begins to connect to what this lock needs, so that its first sale need not wait. */
    connectFor(lock: string) {
      if (backendOf(lock) === 'masters') connectMasters();
    },
    /** What a lock with this lease is given, in milliseconds. */
    forLease: (leaseMs: number): Servers =>
      new ServersOfLock(() => {
        // The lease of the sales changes only while none is in flight.
        endOthers(sessions, leaseMs);
        return sessionOf(sessions, leaseMs);
      }),
    /** What the lock of a job with this lease is given, in milliseconds. */
    forJob: (leaseMs: number): Servers => new ServersOfLock(() => sessionOf(jobSessions, leaseMs)),
    /** Closes the sessions of jobs with another lease. No job may be under way. */
    endOtherJobs: (leaseMs: number) => endOthers(jobSessions, leaseMs),
    /** Ends what a server would keep for this node after its end. Resolves within a second, also when none answers. */
    async close() {
      await Promise.all([...sessions.values(), ...jobSessions.values()].map((session) => session.close()));
      await Promise.all([...pools.values()].map(endPool));
    },
  };
}
