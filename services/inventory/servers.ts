import { Redis } from 'ioredis';
import type { Pool } from 'mysql2/promise';
import type { Logger } from 'pino';
import { openZookeeper, type ZookeeperSession } from '../../locks/drivers/zookeeper-session.ts';
import { backendOf } from '../../locks/index.ts';
import type { RedisClient, Servers } from '../../locks/lock.ts';
import { askMysql, connectMysql, endPool, stockInMysql } from './mysql.ts';
import { askWhenInDoubt, createOutageLog } from './outage-log.ts';
import { redisOptions } from './redis-client.ts';
import type { InventorySettings } from './settings.ts';
import type { Stock } from './store.ts';

/** How many connections read and write the stock in MySQL outside of sales, at most. */
const STOCK_CONNECTIONS = 2;

const silent: Pick<Logger, 'warn' | 'info'> = { warn() {}, info() {} };

export type NodeServers = ReturnType<typeof connectServers>;

/** Who hears of these servers: a log, when MySQL or ZooKeeper goes away and when it is back, and who counts a pool's connections. */
export interface ServersWatch {
  log?: Pick<Logger, 'warn' | 'info'>;
  watchPool?: (name: string, pool: Pool) => void;
}

/** The servers that the locks of this node work with. Each but Redis is connected when a lock first asks for it. */
export function connectServers(
  redis: RedisClient,
  settings: InventorySettings,
  { log = silent, watchPool = () => {} }: ServersWatch = {},
) {
  let masters: Redis[] | undefined;
  let mysql: Pool | undefined;
  let stock: { pool: Pool; inMysql: Stock } | undefined;
  let zookeeper: { leaseMs: number; session: ZookeeperSession } | undefined;
  const jobSessions = new Map<number, ZookeeperSession>();
  const outage = createOutageLog('ZooKeeper', log);
  const mysqlInDoubt = askWhenInDoubt(() => askMysql(mustHave('MYSQL_URL')), createOutageLog('MySQL', log));

  function connectMasters() {
    return mustHave('REDLOCK_URLS').map((url) => {
      // What is asked before the first connection waits for it.
      const master = new Redis(url, { ...redisOptions, enableOfflineQueue: true });
      master.once('ready', () => {
        master.options.enableOfflineQueue = false;
      });
      // A command that is under way rejects.
      master.on('error', () => {});
      return master;
    });
  }

  /** The lease is the session's time, so another lease takes another session. */
  function sessionOf(leaseMs: number): ZookeeperSession {
    if (zookeeper?.leaseMs === leaseMs) return zookeeper.session;
    // Nobody holds by the last one: the lease changes only while no sale is in flight.
    void zookeeper?.session.close();
    zookeeper = { leaseMs, session: openSession(leaseMs) };
    return zookeeper.session;
  }

  /** The jobs have sessions of their own: their lease is not that of the sales. */
  function jobSessionOf(leaseMs: number): ZookeeperSession {
    const session = jobSessions.get(leaseMs) ?? openSession(leaseMs);
    jobSessions.set(leaseMs, session);
    return session;
  }

  const openSession = (sessionMs: number) => openZookeeper({ url: mustHave('ZOOKEEPER_URL'), sessionMs, outage });
  const openPool = (connections: number) => connectMysql(mustHave('MYSQL_URL'), connections, undefined, mysqlInDoubt);

  function lockPool() {
    if (mysql === undefined) {
      mysql = openPool(settings.MYSQL_LOCK_CONNECTIONS);
      watchPool('locks', mysql);
    }
    return mysql;
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
      masters ??= connectMasters();
      return masters;
    }

    get mysql() {
      return lockPool();
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
    stockInMysql() {
      if (stock === undefined) {
        const pool = openPool(STOCK_CONNECTIONS);
        stock = { pool, inMysql: stockInMysql(pool) };
        watchPool('stock', pool);
      }
      return stock.inMysql;
    },
    /** Begins to connect to what this lock needs, so that its first sale need not wait. */
    connectFor(lock: string) {
      if (backendOf(lock) === 'masters') masters ??= connectMasters();
    },
    /** What a lock with this lease is given, in milliseconds. */
    forLease: (leaseMs: number): Servers => new ServersOfLock(() => sessionOf(leaseMs)),
    /** What the lock of a job with this lease is given, in milliseconds. */
    forJob: (leaseMs: number): Servers => new ServersOfLock(() => jobSessionOf(leaseMs)),
    /** Closes the sessions of jobs with another lease. No job may be under way. */
    endOtherJobs(leaseMs: number) {
      for (const [each, session] of jobSessions) {
        if (each === leaseMs) continue;
        jobSessions.delete(each);
        void session.close();
      }
    },
    /** Ends what a server would keep for this node after its end. Resolves within a second, also when none answers. */
    async close() {
      await Promise.all([zookeeper?.session, ...jobSessions.values()].map((session) => session?.close()));
      await Promise.all([mysql, stock?.pool].map((pool) => pool && endPool(pool)));
    },
  };
}
