// A process of a counterexample, for real: it makes the very same sales, with a real client and real timers.

import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { type Command, Redis, type RedisOptions } from 'ioredis';
import { type LockModule, type SaleStep, sellAll } from '../../prove/sale.ts';
import { type FromSeller, isOfConnection, type SellerTask, type ToSeller } from './seller-task.ts';

const { name, lock, sales, script, ports }: SellerTask = JSON.parse(process.argv[2] ?? '{}');
const tell = (event: FromSeller) => void process.send?.(event);

const known = new WeakSet<Command>();

/** Tells every reply before the lock gets it. The connection that listens goes a way of its own. */
class TellingRedis extends Redis {
  override sendCommand(command: Command, stream?: Parameters<Redis['sendCommand']>[1]) {
    // A command that waits for its connection, or is sent again, comes here twice.
    if (!known.has(command) && !isOfConnection(command.name)) {
      known.add(command);
      const line = this.options.port === ports.messages ? 'messages' : 'commands';
      command.promise.then(
        (reply) => tell({ type: 'reply', line, reply: JSON.stringify(asSent(reply)) }),
        (error: Error) => tell({ type: 'reply', line, reply: error.message }),
      );
    }
    return super.sendCommand(command, stream);
  }

  override duplicate(override: Partial<RedisOptions> = {}) {
    const { replyMapping: _, ...options } = { ...this.options, ...override };
    const listening = new TellingRedis({ ...options, port: ports.messages });
    listening.on('message', (channel, message) => tell({ type: 'message', channel, message }));
    // biome-ignore lint/suspicious/noExplicitAny: its type depends on options that only the caller knows.
    return listening as any;
  }
}

/** A hash as the server sends it: its fields, each with its value. */
function asSent(reply: unknown) {
  return typeof reply === 'object' && reply !== null && !Array.isArray(reply) ? Object.entries(reply).flat() : reply;
}

async function loadLock(): Promise<LockModule> {
  if ('file' in lock) return import(pathToFileURL(lock.file).href);
  // They and their packages take long to load, and a lock in a file needs none of them.
  const { strategies } = await import('../../locks/index.ts');
  const strategy = strategies[lock.name];
  if (strategy === undefined || !('createLock' in strategy)) throw new Error(`There is no lock ${lock.name}.`);
  return strategy;
}

const { createLock, createReadLock, createMultiLock, takeOne } = await loadLock();
const redis = new TellingRedis({
  host: '127.0.0.1',
  port: ports.commands,
  // After a failover it is back at once, and sends again what was not answered.
  retryStrategy: () => 20,
  maxRetriesPerRequest: null,
});
redis.on('error', () => {});
redis.once('ready', () => tell({ type: 'ready' }));

const hangUp = new AbortController();
process.on('message', ({ type }: ToSeller) => {
  if (type === 'hang up') return hangUp.abort();
  const { signal } = hangUp;
  const emit = (sale: number, step: SaleStep, more = {}) => tell({ type: 'told', told: { sale, step, ...more } });
  // What nobody catches ends this process, as it ends one of the search.
  const sells = {
    createLock,
    ...(createReadLock && { createReadLock }),
    ...(createMultiLock && { createMultiLock }),
    ...(takeOne && { takeOne }),
  };
  void sellAll(sales, { ...sells, name, redis, masters: [], script, signal, sleep, ask() {}, emit });
});
process.once('disconnect', () => process.exit());
