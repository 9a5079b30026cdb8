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

/** The lock whose stock is split into buckets. */
const LOCK_OF_BUCKETS = 'buckets';
/** The fewest units that are worth a bucket. */
const LEAST_UNITS_IN_BUCKET = 100;
/** How long Redis remembers that an order's units were returned, in milliseconds. */
const RESTORED_MARK_MS = 86_400_000;
/** How long after its closing an order may be restored by its mark, in milliseconds: well before the mark expires. */
export const RESTORABLE_MS = RESTORED_MARK_MS / 2;

// The braces are a hash tag: all keys of one sku live in one Cluster slot.
export const stockKey = (sku: string) => `{inventory${sku}}:stock`;
export const lockKey = (sku: string, lock: string) => `{inventory${sku}}:lock:${lock}`;
/** The key of a user's lock, whatever the user buys. It has its own hash slot: no command uses it together with the stock. */
export const userLockKey = (user: string, lock: string) => `{user:${user}}:lock:${lock}`;
/** The newest fencing tokens that the stock has seen. */
export const fenceKey = (sku: string) => `{inventory${sku}}:fence`;
export const restoredKey = (sku: string, orderId: string) => `{inventory${sku}}:restored:${orderId}`;
/** The stock, the lock and the fence of the first bucket have the plain names: the same as those of an unsplit stock. */
export const nameInBucket = (name: string, bucket: number) => (bucket === 0 ? name : `${name}:${bucket}`);
/** Every key that a lock may use for this sku, with its stock in this many buckets. */
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

/** The stock of all skus, wherever it is stored, to read and write outside of sales. */
export interface Stock {
  /** Resolves with undefined when there is no such sku. */
  readStock(sku: string): Promise<number | undefined>;
  writeStock(sku: string, stock: number): Promise<void>;
  /**
   * Adds units to the stock in one step, whatever else is written. Resolves with false if there is no stock, without creating
   * it.
   */
  addStock(sku: string, units: number): Promise<boolean>;
  /** Like `addStock`, but creates the stock if there is none. */
  restock(sku: string, units: number): Promise<void>;
  deleteStock(sku: string): Promise<void>;
}

export type Store = ReturnType<typeof connectStore>;

/**
 *
 * Connects to Redis. While it is unavailable, every command rejects and none is queued for later: a stock write that arrives
 * after the outage would overwrite the sales made since. `commandsOfLocks` are those that some locks need, by the names of the
 * locks. The log is told, once, when Redis does not let the store end its last connection.
 *
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
      `After an outage a late write may overwrite newer stock, because Redis refuses CLIENT INFO or CLIENT KILL: ${refusal}. ` +
        'Use Redis 6.2 or newer, and a user that may run both commands.',
    );
  }
  onServer(redis, (server) => {
    endLastConnection(server, tellOnce);
    // Another server may be there, after a failover or with a newer version.
    server.on('ready', forgetLacks);
  });

  /** Resolves with the reasons why Redis does not support some locks, by name. Asked once per connection. */
  function lacks(): Promise<Lacks> {
    knownLacks ??= lacksOf(redis, commandsOfLocks);
    knownLacks.catch(forgetLacks);
    return knownLacks;
  }

  /** Resolves with the units of each of the first buckets, all read at one moment; undefined where there is no such key. */
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
     *
     * A sku as the holders of a lock read and write it, in one of its buckets. Tokens of different locks or buckets are never
     * compared.
     *
     */
    bucketOf: (sku: string, lock: string, bucket = 0) =>
      fencedStock(redis, {
        stock: nameInBucket(stockKey(sku), bucket),
        fence: fenceKey(sku),
        lock: nameInBucket(lock, bucket),
      }),
    /**
     *
     * The stock as seen by sales that use this many buckets: what they can sell. A write spreads it over at most this many
     * buckets and removes all others.
     *
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
    /** Resolves with the skus that have this bucket or a later one. It scans all keys in Redis. */
    async skusInBuckets(from: number): Promise<string[]> {
      const found = await Promise.all(mastersOf(redis).map((server) => skusBeyond(server, from)));
      return [...new Set(found.flat())].toSorted();
    },
    /**
     *
     * Moves the units of this bucket and all later ones into the first one, in one step. A sale inside one of them, or inside
     * the first, is refused when it writes, as if it had lost its bucket's lock. STALE_TOKEN as in `restoreOnce`.
     *
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
     *
     * Returns an order's units to the stock in one step, creating it if needed. False if that was done within the last day.
     * STALE_TOKEN needs no read before: token and sum are one step.
     *
     */
    async restoreOnce(sku: string, units: number, orderId: string, lock = '', token?: string): Promise<boolean> {
      const keys = [stockKey(sku), fenceKey(sku), restoredKey(sku, orderId)];
      const values = [units, RESTORED_MARK_MS, ...(token === undefined ? [] : [lock, token])];
      const answer = await restoreOnce(redis, keys, values);
      if (answer === -1) throw staleToken(token);
      return answer === 1;
    },
    /** True if `restoreOnce` has returned them within the last day. */
    isRestored: async (sku: string, orderId: string) => (await redis.exists(restoredKey(sku, orderId))) === 1,
    /** Asks each server that accepts writes. Rejects if one of them does not reply. */
    askAll: <T>(question: (server: RedisClient) => Promise<T>) => Promise.all(mastersOf(redis).map(question)),
    lacks,
    /** Rejects with ProblemError COMMAND_MISSING if Redis lacks this lock's commands. Does nothing for other locks. */
    async mustCarry(lock: string) {
      const why = commandsOfLocks[lock] && (await lacks())[lock];
      if (why !== undefined) throw new ProblemError('COMMAND_MISSING', why);
    },
    /** Resolves when Redis is available, at once if it is now. */
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

/** The sku and the number in the key of a bucket other than the first. */
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

/** The key of a stock, the key of its fence, and the field of the fence with the lock's newest token. */
export interface StockPlace {
  stock: string;
  fence: string;
  lock: string;
}

/** The stock in one place. Rejects with ProblemError STALE_TOKEN, unchanged, if it has seen a newer token. */
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
    throw new ProblemError('DATA_UNREADABLE', `${key} does not hold a whole number below 2^53.`);
  return units;
}

/** How many of the buckets to use for this many units: a bucket with few units is soon empty and costs useless reads. */
const bucketsFor = (units: number, most: number) =>
  Math.max(1, Math.min(most, Math.floor(units / LEAST_UNITS_IN_BUCKET)));

const staleToken = (token = '') =>
  new ProblemError('STALE_TOKEN', `The stock has seen a newer token than ${token}: nothing was written.`);

/**
 *
 * What the last connection sent may still arrive, so Redis kills that connection before it reads from the new one. ID and ADDR
 * together identify a connection on any server. The embedded Valkey has no ADDR; there nothing is killed.
 *
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

/** True if the failed command was certainly not executed: it was never sent, or the server refused it. */
export const wasNotDone = (error: unknown): boolean =>
  wasNeverSent(error) || refusalOf(error) !== undefined || isRefused(error);

/** True if the command never left this process. `Connection is closed` may also mean that its server has left the Cluster. */
export function wasNeverSent(error: unknown): boolean {
  return error instanceof Error && /^(Stream isn't writeable|Cluster isn't ready)/.test(error.message);
}
