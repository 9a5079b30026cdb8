// Loads a module and creates one lock. Reports when it starts, and then what it found: a problem, or what the lock promises.

import { Redis } from 'ioredis';
import type { LockOptions } from '../../locks/lock.ts';
import { supervised } from '../../services/inventory/sale/external-lock.ts';
import { lockKey } from '../../services/inventory/servers/store.ts';
import { readExternalModule } from '../../services/inventory/settings/external-module.ts';
import { readPromises } from '../evidence/promises.ts';
import { readDoesNotPromise } from './not-promised.ts';

const [file = ''] = process.argv.slice(2);
// Nothing is asked of it here.
const redis = new Redis({ lazyConnect: true });
const options = {
  redis,
  masters: [redis],
  key: lockKey('001', 'check'),
  ownerToken: 'check:0001',
  leaseMs: 1_000,
  renewEveryMs: 1_000 / 3,
  retryDelayMs: 20,
  onLeaseLost() {},
} as unknown as LockOptions;

process.send?.('');
const found = await check().catch((error: Error) => ({ problem: error.message }));
process.send?.(found, () => process.exit(0));

async function check() {
  const { createLock, promises: exported, doesNotPromise: excused } = await readExternalModule(file);
  const promises = readPromises(exported);
  const doesNotPromise = readDoesNotPromise(excused);
  supervised(createLock)(options);
  return { doesNotPromise, ...(exported !== undefined && { promises }) };
}
