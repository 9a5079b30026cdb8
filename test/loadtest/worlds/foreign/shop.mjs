// A shop that nobody has described, in as many versions as MODE has names: wrong ones that look right, and right ones that look wrong.

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';

const {
  PORT,
  REDIS_URL,
  LEASE_MS = '30000',
  MODE = 'lock',
  NODE_NAME,
  SALE_MS = '0',
  PATIENCE_MS = '900',
} = process.env;
const STOCK = 'shop:stock';
const LOCK = MODE === 'lock-per-process' ? `shop:lock:${NODE_NAME}` : 'shop:lock';
const DELETE_IF_OWNER = "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) end return 0";
const TAKE_IF_SAME = "if redis.call('get',KEYS[1]) == ARGV[1] then redis.call('decr',KEYS[1]) return 1 end return 0";
const SELL =
  "local left = tonumber(redis.call('get',KEYS[1]) or 0) if left <= 0 then return -1 end return redis.call('decr',KEYS[1])";
const TAKE_IF_VERSION =
  "if (redis.call('hget',KEYS[1],'version') or '') == ARGV[1] then redis.call('hincrby',KEYS[1],'version',1) redis.call('hset',KEYS[1],'qty',ARGV[2]) return 'took' end return 'stale'";
let served = 0;
/** True once in so many calls. */
function isNth(times) {
  served += 1;
  return served % times === 0;
}

/** Connections that are free: one sale has one to itself. */
const free = [];
async function withRedis(act) {
  const redis =
    free.pop() ??
    new Redis(REDIS_URL, {
      maxRetriesPerRequest: 0,
      socketTimeout: Number(PATIENCE_MS),
      retryStrategy: () => 50,
    }).on('error', () => {});
  try {
    return await act(redis);
  } finally {
    free.push(redis);
  }
}

async function locked(redis, act) {
  const token = randomUUID();
  while ((await redis.set(LOCK, token, 'PX', LEASE_MS, 'NX')) !== 'OK') await sleep(10);
  const release = () => redis.eval(DELETE_IF_OWNER, 1, LOCK, token);
  try {
    return await act();
  } finally {
    if (MODE === 'late-release-in-a-thread') setTimeout(() => withRedis((own) => own.del(LOCK)).catch(() => {}), 30);
    else await release();
  }
}

async function takeOne(redis) {
  const left = Number(await redis.get(STOCK));
  if (left <= 0) return undefined;
  await sleep(Number(SALE_MS));
  await redis.set(STOCK, left - 1);
  return left - 1;
}

const ways = {
  lock: (redis) => locked(redis, () => takeOne(redis)),
  none: takeOne,
  /** Each sale leaves a record, which is nobody's business. */
  records: (redis) =>
    locked(redis, async () => {
      const left = await takeOne(redis);
      await redis.set(`shop:order:${randomUUID()}`, 'card 4711', 'EX', 600);
      return left;
    }),
  'lock-per-process': (redis) => locked(redis, () => takeOne(redis)),
  'late-release-in-a-thread': (redis) => locked(redis, () => takeOne(redis)),
  async 'lock-around-the-read'(redis) {
    const left = await locked(redis, async () => Number(await redis.get(STOCK)));
    if (left <= 0) return undefined;
    await redis.set(STOCK, left - 1);
    return left - 1;
  },
  /** One buyer in 50 is told that he has it, and nothing is taken. */
  'sells-without-taking': (redis) =>
    locked(redis, async () => (isNth(50) ? Number(await redis.get(STOCK)) : takeOne(redis))),
  /** Another was quicker, and the buyer is told that he has it all the same. */
  async 'sold-after-a-refused-write'(redis) {
    await redis.watch(STOCK);
    const left = Number(await redis.get(STOCK));
    if (left <= 0) return undefined;
    await redis
      .multi()
      .set(STOCK, left - 1)
      .exec();
    return left - 1;
  },
  /** Taken, and the buyer is told of an error. */
  'sells-to-nobody': (redis) =>
    locked(redis, async () => {
      const left = await takeOne(redis);
      if (isNth(20)) throw new Error('the answer got lost');
      return left;
    }),
  async 'decr-below-zero'(redis) {
    const left = await redis.decr(STOCK);
    return left < 0 ? undefined : left;
  },
  async 'decr-and-back'(redis) {
    const left = await redis.decr(STOCK);
    if (left >= 0) return left;
    await redis.incr(STOCK);
    return undefined;
  },
  async script(redis) {
    const left = await redis.eval(SELL, 1, STOCK);
    return left < 0 ? undefined : left;
  },
  async watch(redis) {
    for (;;) {
      await redis.watch(STOCK);
      const left = Number(await redis.get(STOCK));
      if (left <= 0) return void (await redis.unwatch());
      if (
        (await redis
          .multi()
          .set(STOCK, left - 1)
          .exec()) !== null
      )
        return left - 1;
    }
  },
  async 'compare-and-set'(redis) {
    for (;;) {
      const left = Number(await redis.get(STOCK));
      if (left <= 0) return undefined;
      if ((await redis.eval(TAKE_IF_SAME, 1, STOCK, left)) === 1) return left - 1;
    }
  },
  async version(redis) {
    for (;;) {
      const [qty, version] = await redis.hmget('shop:item', 'qty', 'version');
      if (Number(qty) <= 0) return undefined;
      if ((await redis.eval(TAKE_IF_VERSION, 1, 'shop:item', version ?? '', Number(qty) - 1)) === 'took')
        return qty - 1;
    }
  },
  'hash-field': (redis) =>
    locked(redis, async () => {
      const left = Number(await redis.hget('shop:item', 'qty'));
      if (left <= 0) return undefined;
      await redis.hset('shop:item', 'qty', left - 1);
      return left - 1;
    }),
  /** Its answers are those that nobody expects. */
  'odd-answers': (redis) => locked(redis, () => takeOne(redis)),
};

function answerOf(left) {
  if (MODE === 'odd-answers')
    return left === undefined
      ? [200, 'we are empty']
      : [202, JSON.stringify({ left, id: process.hrtime.bigint().toString() })];
  return left === undefined ? [409, 'sold out'] : [200, `sold, ${left} left`];
}

createServer(async (_request, response) => {
  const [status, text] = await withRedis(ways[MODE]).then(answerOf, (error) => [500, error.message]);
  response.writeHead(status, { 'content-length': Buffer.byteLength(text) }).end(text);
}).listen(Number(PORT), '127.0.0.1');
