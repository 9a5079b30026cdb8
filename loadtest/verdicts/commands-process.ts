// A process with a published lock, for its commands to be counted: it holds, waits and leaves when it is told to.

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Redis } from 'ioredis';
import type { Lock, LockOptions } from '../../locks/lock.ts';
import { redisOptions } from '../../services/inventory/redis-options.ts';
import { loadPeer } from '../peers/peer.ts';

export interface CommandsTask {
  /** The name of the adapter. */
  name: string;
  redisUrl: string;
  masterUrls: string[];
  key: string;
  leaseMs: number;
  retryDelayMs: number;
  /** How many wait for one another. */
  waiters: number;
}

/** Answered with `done` when it has happened. `wait`: another asks, and is not waited for. `queue`: all of them had their turn. */
export type Order = 'hold' | 'wait' | 'leave' | 'queue';

const task: CommandsTask = JSON.parse(process.argv[2] ?? '{}');
const { createLock } = await loadPeer(task.name);
const redis = await connect(task.redisUrl);
const masters = await Promise.all(task.masterUrls.map(connect));
const held: Lock[] = [];

process.on('message', (order: Order) => {
  carryOut(order).then(
    () => process.send?.('done'),
    (error: Error) => process.send?.(error.message),
  );
});
process.once('disconnect', () => process.exit());
process.send?.('ready');

async function carryOut(order: Order) {
  if (order === 'hold') held.push(await take());
  if (order === 'wait') void take().then((lock) => lock.release().catch(unlessNotHeld));
  if (order === 'leave') await held.pop()?.release().catch(unlessNotHeld);
  if (order === 'queue') await Promise.all(Array.from({ length: task.waiters }, async () => (await take()).release()));
}

/** A lease that nobody renews may be over. */
function unlessNotHeld(error: { code?: string }) {
  if (error.code !== 'LOCK_NOT_HELD') throw error;
}

async function take(): Promise<Lock> {
  const { key, leaseMs, retryDelayMs } = task;
  const ownerToken = `${randomUUID()}:1`;
  const options = { redis, masters, key, ownerToken, leaseMs, retryDelayMs, onLeaseLost() {} };
  const lock = createLock(options as unknown as LockOptions);
  await lock.acquire();
  return lock;
}

async function connect(url: string): Promise<Redis> {
  const client = new Redis(url, redisOptions);
  client.on('error', () => {});
  await once(client, 'ready');
  return client;
}
