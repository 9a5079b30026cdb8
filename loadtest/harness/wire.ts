// How sales look on the wire: which commands read the stock, write it and release a lock, and how a unit is bought.

import { deletingCommands } from '../../locks/drivers/delete-if-equal.ts';
import type { RedisClient } from '../../locks/lock.ts';
import { fenceKey, lockKey, stockKey } from '../../services/inventory/servers/store.ts';
import type { Command } from '../../stack/proxy/link.ts';
import { readAnswer, type SaleAnswer } from '../evidence/answers.ts';
import type { HttpRequest } from './network.ts';

/** The requests and commands of a target's nodes. Each kind of service has its own. */
export interface Wire {
  /** The nodes tell what their sales do. Otherwise it is seen on the wire, and who may write is known by what is lost. */
  nodesTell: boolean;
  /** How long a sale can be kept inside at most, in milliseconds. */
  longestSaleMs: number;
  /** A write puts what its sale has computed, whatever another has written since it read. Otherwise it is refused, or takes from what is there. */
  overwrites: boolean;
  /** Each write of the stock is seen on its way. */
  seesWrites: boolean;
  /** How a unit is asked for, at a node or at the load balancer. */
  sale: Pick<HttpRequest, 'method' | 'json'> & { path: string };
  /** What the answer to that says. */
  readAnswer(status: number, body: string): SaleAnswer;
  /** The key of the stock in Redis. */
  stockKey: string;
  /** A key that is of the stock, or of what goes with it, and of no lock. */
  isStockKey(key: string): boolean;
  /** The command that reads the stock, itself or in a script. */
  isStockRead(command: Command): boolean;
  /** The command that writes the stock, itself or in a script. */
  isStockWrite(command: Command): boolean;
  /** The key of the lock of this stage. */
  lockKey(stage: string): string;
  /** The keys in this Redis that belong to the lock of this stage. */
  lockKeysIn(redis: RedisClient, stage: string): Promise<string[]>;
  /** A command that names a key of the lock of this stage; of any lock when none is given. */
  isOfLock(command: Command, stage?: string): boolean;
  /** The command by which a holder of a lock gives it up, where it is known without looking. */
  isRelease(command: Command): boolean;
  /** The command by which a watchdog renews a lease. */
  isRenewal(command: Command): boolean;
}

const SKU = '001';
const stock = stockKey(SKU);
/** What deletes the key of a lock of ours, besides a script. */
const deleting = new Set(['DEL', ...Object.keys(deletingCommands)]);

/** That of our own nodes. */
export const ourWire: Wire = {
  nodesTell: true,
  longestSaleMs: Number.POSITIVE_INFINITY,
  overwrites: true,
  seesWrites: true,
  sale: { method: 'POST', path: '/inventory/sale' },
  readAnswer,
  stockKey: stock,
  isStockKey: (key) => key === stock || key === fenceKey(SKU),
  isStockRead: ({ name, script, args }) => (name === 'GET' || script === 'read-if-newest') && args.includes(stock),
  isStockWrite: ({ name, script, args }) =>
    !['GET', 'MGET'].includes(name) && script !== 'read-if-newest' && args.includes(stock),
  lockKey: (stage) => lockKey(SKU, stage),
  lockKeysIn: (redis, stage) => redis.keys(`*${lockKey(SKU, stage)}*`),
  isOfLock: ({ args }, stage = '') => args.some((arg) => arg.includes(lockKey(SKU, stage))),
  isRelease: ({ name, script }) => deleting.has(name) || (script?.startsWith('release-') ?? false),
  isRenewal: ({ script }) => script?.startsWith('renew-') ?? false,
};
