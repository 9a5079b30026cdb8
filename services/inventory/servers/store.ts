import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { isRefused } from '../../../locks/drivers/mysql-errors.ts';
import { type RunScript, readScript } from '../../../locks/drivers/script.ts';
import type { FencedStock, RedisClient } from '../../../locks/lock.ts';
import type { Commands } from '../../../locks/strategy.ts';
import { ProblemError } from '../problem.ts';
import { MOST_BUCKETS, USUAL_BUCKETS } from '../settings/limits.ts';
import { refusalOf } from './away-server.ts';
import { connectRedis, mastersOf, onServer, redisOptions } from './redis-client.ts';
import { type Lacks, lacksOf } from './redis-commands.ts';

/** The lock whose stock lies in them. */
const LOCK_OF_BUCKETS = 'buckets';
/** So many units are worth a bucket of their own. */
const LEAST_UNITS_IN_BUCKET = 100;
/** How long Redis remembers that an order was restored, in milliseconds. */
const RESTORED_MARK_MS = 86_400_000;
/** How long after its closing an order may be restored by its mark, in milliseconds: well before Redis forgets it. */
export const RESTORABLE_MS = RESTORED_MARK_MS / 2;

// The braces are a hash tag: all keys of one sku live in one Cluster slot.
export const stockKey = (sku: string) => `{inventory${sku}}:stock`;
export const lockKey = (sku: string, lock: string) => `{inventory${sku}}:lock:${lock}`;
/** Of a lock that is for a user, whatever that buys. It is in a hash slot of its own: no command names the stock beside it. */
export const userLockKey = (user: string, lock: string) => `{user:${user}}:lock:${lock}`;
/** The newest fencing tokens that the stock has seen. */
export const fenceKey = (sku: string) => `{inventory${sku}}:fence`;
export const restoredKey = (sku: string, orderId: string) => `{inventory${sku}}:restored:${orderId}`;
/** The stock, the lock and the fence of the first bucket have the plain name: they are those of a stock that lies in one key. */
export const nameInBucket = (name: string, bucket: number) => (bucket === 0 ? name : `${name}:${bucket}`);
/** Every key that a lock may use for this sku, whose stock lies in so many buckets. */
export const lockKeys = (sku: string, lock: string, buckets: number) =>
  numbers(buckets).flatMap((bucket) => keysOf(lockKey(sku, nameInBucket(lock, bucket))));
export const keysOf = (lockKey: string) =>
  ['', ':tokens', ':queue', ':suspect', ':readers', ':leases', ':waiting'].map((suffix) => `${lockKey}${suffix}`);

const numbers = (count: number) => Array.from({ length: count }, (_, number) => number);

const readIfNewest: RunScript<string | null | -1> = readScript('read-if-newest');
const writeIfNewest = readScript('write-if-newest');
const addIfThere = readScript('add-if-there');
const restoreOnce = readScript('restore-once');
const gatherBuckets = readScript('gather-buckets');

/** The stock of all skus, wherever it is kept, to be read and written outside of sales. */
export interface Stock {
  /** Resolves with undefined when there is no such sku. */
  readStock(sku: string): Promise<number | undefined>;
  writeStock(sku: string, stock: number): Promise<void>;
  /** Puts units into the stock in one step, whatever else is written. Resolves with false when there is none: it makes none. */
  addStock(sku: string, units: number): Promise<boolean>;
  /** As `addStock`, and makes the stock if there is none. */
  restock(sku: string, units: number): Promise<void>;
  deleteStock(sku: string): Promise<void>;
}

export type Store = ReturnType<typeof connectStore>;

/**
 * Connects to Redis. While it is away every command rejects, and none is kept to be sent later: a stock write that arrives after
 * the outage would undo the sales made since. `commandsOfLocks` are those that some locks need, by the names of the locks. The log is
 * told, once, when Redis does not let the store end its last connection.
 */
export function connectStore(
  url: string,
  buckets = USUAL_BUCKETS,
  commandsOfLocks: Record<string, Commands> = {},
  log?: Pick<Logger, 'warn'>,
) {
  const redis = connectRedis(url, redisOptions);
  // A command that is under way rejects.
  redis.on('error', () => {});
  let back: Promise<void> | undefined;
  let knownLacks: Promise<Lacks> | undefined;
  const forgetLacks = () => {
    knownLacks = undefined;
  };
  let isTold = false;
  function tellOnce(refusal: string) {
    if (isTold) return;
    isTold = true;
    log?.warn(
      `After an outage a late write may undo newer stock: Redis refuses CLIENT INFO or CLIENT KILL: ${refusal}. ` +
        'Use Redis 6.2 or newer, and a user that may send both commands.',
    );
  }
  onServer(redis, (server) => {
    endLastConnection(server, tellOnce);
    // Another server may be there, after a failover or with a newer version.
    server.on('ready', forgetLacks);
  });

  /** Resolves with why Redis can't carry some locks, by their names. It is asked once for each connection. */
  function lacks(): Promise<Lacks> {
    knownLacks ??= lacksOf(redis, commandsOfLocks);
    knownLacks.catch(forgetLacks);
    return knownLacks;
  }

  /** Resolves with the units of each of the first buckets, all at one moment; undefined where there is no such key. */
  async function readBuckets(sku: string, count = buckets) {
    const keys = bucketKeys(sku, count);
    const values = await redis.mget(keys);
    // MGET takes a key of another type for none, and GET refuses it.
    if (values.every((value) => value === null)) await redis.get(stockKey(sku));
    return values.map((value, bucket) => unitsIn(keys[bucket] ?? '', value));
  }

  return {
    redis,
    buckets,
    readBuckets: (sku: string) => readBuckets(sku),
    /**
     * A sku as the holders of a lock read and write it, in one of its buckets. Tokens of two locks, or of two buckets,
     * are never compared.
     */
    bucketOf: (sku: string, lock: string, bucket = 0) =>
      fencedStock(redis, {
        stock: nameInBucket(stockKey(sku), bucket),
        fence: fenceKey(sku),
        lock: nameInBucket(lock, bucket),
      }),
    /**
     * The stock as the sales see it that look into so many buckets: what they can sell. What is written lies in as many from
     * then on, at most, and no other bucket is left.
     */
    inBuckets: (count: number): Stock => ({
      async readStock(sku) {
        const units = await readBuckets(sku, count);
        if (units.every((each) => each === undefined)) return undefined;
        return units.reduce<number>((sum, each = 0) => sum + each, 0);
      },
      async writeStock(sku, stock) {
        const keys = bucketKeys(sku, MOST_BUCKETS);
        const used = bucketsFor(stock, count);
        const share = (bucket: number) => Math.floor(stock / used) + (bucket < stock % used ? 1 : 0);
        // First: what is gathered from them afterwards would be added to the new stock.
        if (used < keys.length) await redis.del(...keys.slice(used));
        await redis.mset(...keys.slice(0, used).flatMap((key, bucket) => [key, share(bucket)]));
      },
      addStock: async (sku, units) => (await addIfThere(redis, [stockKey(sku)], [units])) === 1,
      // Redis counts a stock that is not there as 0.
      restock: async (sku, units) => void (await redis.incrby(stockKey(sku), units)),
      deleteStock: async (sku) => void (await redis.del(...bucketKeys(sku, MOST_BUCKETS), fenceKey(sku))),
    }),
    /** Resolves with the skus that have a bucket from this one on. It looks at every key that Redis has. */
    async skusInBuckets(from: number): Promise<string[]> {
      const found = await Promise.all(mastersOf(redis).map((server) => skusBeyond(server, from)));
      return [...new Set(found.flat())].toSorted();
    },
    /**
     * Moves the units of the buckets from this one on into the first one, in one step. A sale that is in one of them
     * meanwhile, or in the first, is refused when it writes, as if it had lost the lock of its bucket. STALE_TOKEN
     * as in `restoreOnce`.
     */
    async gatherBuckets(sku: string, from: number, lock: string, token = '') {
      const buckets = numbers(MOST_BUCKETS).filter((bucket) => bucket === 0 || bucket >= from);
      const locks = buckets.map((bucket) => nameInBucket(LOCK_OF_BUCKETS, bucket));
      const keys = buckets.flatMap((bucket) => [
        nameInBucket(stockKey(sku), bucket),
        `${lockKey(sku, nameInBucket(LOCK_OF_BUCKETS, bucket))}:tokens`,
      ]);
      const values = [lock, token, ...locks];
      if ((await gatherBuckets(redis, [fenceKey(sku), ...keys], values)) === 0) throw staleToken(token);
    },
    /**
     * Puts the units of an order into the stock in one step, making it if need be. False when that
     * was done within the last day. STALE_TOKEN needs no read before: token and sum are one step.
     */
    async restoreOnce(sku: string, units: number, orderId: string, lock = '', token?: string): Promise<boolean> {
      const keys = [stockKey(sku), fenceKey(sku), restoredKey(sku, orderId)];
      const values = [units, RESTORED_MARK_MS, ...(token === undefined ? [] : [lock, token])];
      const answer = await restoreOnce(redis, keys, values);
      if (answer === -1) throw staleToken(token);
      return answer === 1;
    },
    /** Whether `restoreOnce` has put them there within the last day. */
    isRestored: async (sku: string, orderId: string) => (await redis.exists(restoredKey(sku, orderId))) === 1,
    /** Asks each server that takes writes, one or several. Rejects when one of them does not answer. */
    askAll: <T>(question: (server: RedisClient) => Promise<T>) => Promise.all(mastersOf(redis).map(question)),
    lacks,
    /** Rejects with ProblemError COMMAND_MISSING when Redis lacks the commands of this lock. Any other lock it does not ask about. */
    async mustCarry(lock: string) {
      const why = commandsOfLocks[lock] && (await lacks())[lock];
      if (why !== undefined) throw new ProblemError('COMMAND_MISSING', why);
    },
    /** Resolves when Redis answers, at once if it does now. */
    async back() {
      if (redis.status === 'ready') return;
      back ??= new Promise((resolve) => redis.once('ready', () => resolve()));
      await back;
      back = undefined;
    },
    onAway: (listener: () => void) => void redis.on('close', listener),
  };
}

const bucketKeys = (sku: string, count: number) => numbers(count).map((bucket) => nameInBucket(stockKey(sku), bucket));

/** The sku and the number in the key of a bucket that is not the first one. */
const OTHER_BUCKET = /^\{inventory([\w-]+)\}:stock:([1-9]\d*)$/;

async function skusBeyond(server: RedisClient, from: number): Promise<string[]> {
  const skus: string[] = [];
  let cursor = '0';
  do {
    const [next, keys] = await server.scan(cursor, 'MATCH', `${stockKey('*')}:*`, 'COUNT', 1_000);
    for (const key of keys) {
      const [, sku, bucket] = OTHER_BUCKET.exec(key) ?? [];
      if (sku !== undefined && Number(bucket) >= from) skus.push(sku);
    }
    cursor = next;
  } while (cursor !== '0');
  return skus;
}

/** The key of a stock, that of its fence, and the name under which the fence knows the tokens of its lock. */
export interface StockPlace {
  stock: string;
  fence: string;
  lock: string;
}

/** The stock in a place. It rejects with ProblemError STALE_TOKEN when it has seen a newer token: it is as it was. */
export function fencedStock(redis: RedisClient, { stock: key, fence, lock }: StockPlace): FencedStock {
  const keys = [key, fence];
  return {
    async read(token) {
      const value = token === undefined ? await redis.get(key) : await readIfNewest(redis, keys, [lock, token]);
      if (value === -1) throw staleToken(token);
      return unitsIn(key, value);
    },
    async write(stock, token) {
      if (token === undefined) return void (await redis.set(key, stock));
      if ((await writeIfNewest(redis, keys, [stock, lock, token])) === 0) throw staleToken(token);
    },
  };
}

function unitsIn(key: string, value: string | null): number | undefined {
  if (value === null) return undefined;
  const units = Number(value);
  // As Redis has it, which takes no 1e3 and no 007; and a number that is not exact would be written back as another one.
  if (String(units) !== value || !Number.isSafeInteger(units))
    throw new ProblemError('DATA_UNREADABLE', `${key} holds no whole number below 2^53.`);
  return units;
}

/** In how many buckets so many units lie, of those that there are: a bucket of a few is soon empty, and then only looked at in vain. */
const bucketsFor = (units: number, most: number) =>
  Math.max(1, Math.min(most, Math.floor(units / LEAST_UNITS_IN_BUCKET)));

const staleToken = (token = '') =>
  new ProblemError('STALE_TOKEN', `The stock has seen a newer token than ${token}: nothing is written.`);

/**
 * What the last connection sent may still come: Redis ends it before it reads from a new one. ID and ADDR
 * together name one connection, on whatever server. The embedded Valkey knows no ADDR; there nothing is ended.
 */
function endLastConnection(server: Redis, onRefused: (refusal: string) => void) {
  let lastConnection: string[] | undefined;
  // Without an answer this connection has ended, too, and the next one asks.
  const ask = (...command: string[]) =>
    server.call('CLIENT', ...command).catch(({ name, message }: Error) => {
      if (name === 'ReplyError') onRefused(message);
    });
  server.on('ready', async () => {
    if (lastConnection) ask('KILL', ...lastConnection);
    const [, id, addr] = /^id=(\d+) addr=(\S+)/.exec(String(await ask('INFO'))) ?? [];
    if (id === undefined || addr === undefined) return;
    lastConnection = ['ID', id, 'ADDR', addr];
    // Ends nothing, since Redis skips the connection that asks: it tells before the first outage whether KILL is allowed.
    await ask('KILL', ...lastConnection);
  });
}

/** True when what failed so was certainly not carried out: it was never sent, or the server refused it. */
export const wasNotDone = (error: unknown): boolean =>
  wasNeverSent(error) || refusalOf(error) !== undefined || isRefused(error);

/** True when the command never left this process. `Connection is closed` may also mean one whose server left the Cluster meanwhile. */
export function wasNeverSent(error: unknown): boolean {
  return error instanceof Error && /^(Stream isn't writeable|Cluster isn't ready)/.test(error.message);
}
