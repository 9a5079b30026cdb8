// A shop whose stock is a row in MySQL, in as many versions as MODE has names: with a lock in Redis, with one in MySQL, and without.

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { createPool } from 'mysql2/promise';

const { PORT, REDIS_URL, MYSQL_URL, LEASE_MS = '30000', MODE = 'redis-lock' } = process.env;
const LOCK = 'shop:lock';
const DELETE_IF_OWNER = "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) end return 0";
const pool = createPool({ uri: MYSQL_URL, connectionLimit: 40 });
pool.pool.on('connection', (connection) => connection.on('error', () => {}));

const free = [];
async function withRedis(act) {
  const redis =
    free.pop() ?? new Redis(REDIS_URL, { maxRetriesPerRequest: 0, retryStrategy: () => 50 }).on('error', () => {});
  try {
    return await act(redis);
  } finally {
    free.push(redis);
  }
}

const locked = (act) =>
  withRedis(async (redis) => {
    const token = randomUUID();
    while ((await redis.set(LOCK, token, 'PX', LEASE_MS, 'NX')) !== 'OK') await sleep(10);
    try {
      return await act();
    } finally {
      await redis.eval(DELETE_IF_OWNER, 1, LOCK, token);
    }
  });

const ask = async (sql, values, on = pool) => (await on.execute(sql, values))[0];

async function takeOne(on = pool) {
  const [{ qty }] = await ask('SELECT qty FROM goods WHERE id = ?', [42], on);
  if (qty <= 0) return undefined;
  await ask('UPDATE goods SET qty = ? WHERE id = ?', [qty - 1, 42], on);
  return qty - 1;
}

async function inTransaction(act) {
  const connection = await pool.getConnection();
  try {
    await connection.beginTransaction();
    const left = await act(connection);
    await connection.commit();
    return left;
  } catch (error) {
    await connection.rollback().catch(() => {});
    throw error;
  } finally {
    connection.release();
  }
}

const ways = {
  'redis-lock': () => locked(() => takeOne()),
  none: () => takeOne(),
  'for-update': () =>
    inTransaction(async (connection) => {
      const [[{ qty }]] = await connection.query('SELECT qty FROM goods WHERE id = 42 FOR UPDATE');
      if (qty <= 0) return undefined;
      await connection.query(`UPDATE goods SET qty = ${qty - 1} WHERE id = 42`);
      return qty - 1;
    }),
  async 'get-lock'() {
    const connection = await pool.getConnection();
    try {
      await connection.query("SELECT GET_LOCK('shop', 60)");
      const left = await takeOne(connection);
      await connection.query("SELECT RELEASE_LOCK('shop')");
      return left;
    } finally {
      connection.release();
    }
  },
  async 'conditional-update'() {
    const { affectedRows } = await ask('UPDATE goods SET qty = qty - 1 WHERE id = ? AND qty > 0', [42]);
    return affectedRows === 1 ? 1 : undefined;
  },
  async version() {
    for (;;) {
      const [{ qty, version }] = await ask('SELECT * FROM goods WHERE id = ?', [42]);
      if (qty <= 0) return undefined;
      const sql = 'UPDATE goods SET qty = ?, version = version + 1 WHERE id = ? AND version = ?';
      if ((await ask(sql, [qty - 1, 42, version])).affectedRows === 1) return qty - 1;
    }
  },
  /** Another was quicker, and the buyer is told that he has it all the same. */
  async 'read-then-conditional-without-looking'() {
    const [{ qty }] = await ask('SELECT qty FROM goods WHERE id = ?', [42]);
    if (qty <= 0) return undefined;
    await ask('UPDATE goods SET qty = qty - 1 WHERE id = ? AND qty > 0', [42]);
    return qty - 1;
  },
};

createServer(async (_request, response) => {
  const [status, text] = await ways[MODE]().then(
    (left) => (left === undefined ? [409, 'sold out'] : [200, `sold, ${left} left`]),
    (error) => [500, error.message],
  );
  response.writeHead(status, { 'content-length': Buffer.byteLength(text) }).end(text);
}).listen(Number(PORT), '127.0.0.1');
