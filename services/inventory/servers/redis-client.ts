import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { ANSWER_LIMIT_MS } from '../../../locks/drivers/answer-limit.ts';
import type { RedisClient } from '../../../locks/lock.ts';
import { type RedisPlace, readRedisUrl, redisUrlForms } from '../settings/server-url.ts';
import { exitWithSettingError, shown } from '../settings/setting-error.ts';

/** How often the hash slots of a Cluster are refreshed, in milliseconds. */
const REFRESH_EVERY_MS = 1_000;
/** The delay before retrying a command for a key that is moving to another server, in milliseconds. */
const TRY_AGAIN_DELAY_MS = 20;
const MAX_REDIRECTIONS = 5;
const RECONNECT_DELAY_MS = 100;

/** While Redis is unavailable, commands reject; none is queued for later. */
export const redisOptions = {
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  socketTimeout: ANSWER_LIMIT_MS,
  connectTimeout: ANSWER_LIMIT_MS,
  retryStrategy: () => RECONNECT_DELAY_MS,
  // A Redis that reads its data after a restart says how long that may take, and its guess may be ten seconds too long.
  maxLoadingRetryTime: RECONNECT_DELAY_MS,
} satisfies RedisOptions;

/** Connects to the servers of a REDIS_URL. The options apply to each connection, whatever the form of the URL. */
export function connectRedis(url: string, options: RedisOptions): RedisClient {
  const place = readRedisUrl(url);
  if (place === undefined) throw new Error(`The address of Redis must be ${redisUrlForms}.`);
  if (place.form === 'cluster') return connectCluster(place, options);
  if (place.form === 'sentinel') return inDatabase(place.db, connectBySentinel(place, options), url);
  return inDatabase(Number(new URL(place.url).pathname.slice(1)), readsFirst(new Redis(place.url, options)), url);
}

/** Connects to a master that votes. Commands before the first connection wait for it. */
export function connectMaster(url: string, options: RedisOptions = {}): Redis {
  const master = readsFirst(new Redis(url, { ...redisOptions, ...options, enableOfflineQueue: true }));
  master.once('ready', () => {
    master.options.enableOfflineQueue = false;
  });
  // A command that is under way rejects.
  return master.on('error', () => {});
}

/** If the server does not have that database, the process exits: ioredis would silently use database 0 and overwrite its data. */
function inDatabase(database: number, redis: Redis, url: string): Redis {
  if (database === 0) return redis;
  return redis.on('ready', () => {
    redis.select(database).catch(({ name, message }: Error) => {
      if (name === 'ReplyError') exitWithSettingError(`${shown(url)} is not allowed: ${message}.`);
    });
  });
}

/** The servers that accept writes: the server itself, or the masters of a Cluster; the Cluster client while it is unavailable. */
export function mastersOf(redis: RedisClient): RedisClient[] {
  return redis instanceof Cluster && redis.status === 'ready' ? redis.nodes('master') : [redis];
}

/**
 * Sends everything from one turn of the event loop to Redis in a single write. A write for each command is the larger part of
 * what a sale costs Redis, and of what its answers cost the node. `enableAutoPipelining` of ioredis is not that: it sends
 * nothing while an earlier batch waits for its answers, and one that blocks would stop all.
 * https://github.com/redis/ioredis/pull/343 proposed this.
 */
export function sendTogether(redis: RedisClient) {
  for (const server of mastersOf(redis)) {
    if (!(server instanceof Redis) || server.stream === undefined || server.stream.writableCorked > 0) continue;
    const { stream } = server;
    stream.cork();
    setImmediate(() => stream.uncork());
  }
}

/**
 *
 * After a pause of the node longer than `socketTimeout`, for instance on a busy machine, that timer fires before Redis' replies
 * are read: ioredis would disconnect, and every sale in progress would fail. So read the waiting replies first, which Node does
 * before `setImmediate`.
 *
 */
function readsFirst(server: Redis): Redis {
  return server.on('connect', () => {
    const { stream } = server;
    const hangUp = stream.destroy.bind(stream);
    stream.destroy = (error?: Error) => {
      // An error of the system has a code; that of the timer has none.
      if (error === undefined || 'code' in error) return hangUp(error);
      let hasAnswered = false;
      stream.once('data', () => {
        hasAnswered = true;
      });
      setImmediate(() => hasAnswered || hangUp(error));
      return stream;
    };
  });
}

/** Calls `meet` with each connection to a server before it is used: the client itself, or each connection of a Cluster. */
export function onServer(redis: RedisClient, meet: (server: Redis) => void) {
  if (redis instanceof Cluster) redis.on('+node', meet);
  else meet(redis);
}

function connectCluster(place: RedisPlace & { form: 'cluster' }, options: RedisOptions): Cluster {
  const { retryStrategy, enableOfflineQueue = true, lazyConnect = false, ...ofEach } = options;
  const cluster = new Cluster(place.nodes, {
    redisOptions: { ...ofEach, ...place.access },
    enableOfflineQueue,
    lazyConnect,
    clusterRetryStrategy: retryStrategy,
    // A server that comes back is connected again, and a command that was under way when it left is known from one that was not
    // sent.
    clusterNodeRetryStrategy: retryStrategy,
    // Each server's own connection knows whether it is there; a Cluster that can't serve answers CLUSTERDOWN.
    enableReadyCheck: false,
    ...(ofEach.connectTimeout !== undefined && { slotsRefreshTimeout: ofEach.connectTimeout }),
    // What failed is never sent again. What a server refused because the key is elsewhere has not been done by anyone.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    retryDelayOnTryAgain: TRY_AGAIN_DELAY_MS,
    maxRedirections: MAX_REDIRECTIONS,
  });
  // Not its own timer: one that is disconnected while it asks would ask on for ever, and keep the process from ending.
  const refreshing = setInterval(() => cluster.refreshSlotsCache(), REFRESH_EVERY_MS).unref();
  cluster.once('end', () => clearInterval(refreshing));
  onServer(cluster, readsFirst);
  // Otherwise the first command to a server connects, and those right behind it are rejected.
  onServer(cluster, (server) => void server.connect().catch(() => {}));
  return cluster;
}

/** The password is for the servers; the Sentinels get none. */
function connectBySentinel(place: RedisPlace & { form: 'sentinel' }, options: RedisOptions): Redis {
  const { sentinels, name, db, access } = place;
  const redis = new Redis({
    ...options,
    sentinels,
    name,
    db,
    ...access,
    ...(access.tls && { sentinelTLS: {}, enableTLSForSentinelMode: true }),
    ...(options.retryStrategy && { sentinelRetryStrategy: options.retryStrategy }),
    ...(options.socketTimeout !== undefined && { sentinelCommandTimeout: options.socketTimeout }),
  });
  return readsFirst(redis);
}
