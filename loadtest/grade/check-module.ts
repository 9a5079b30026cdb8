// Loads a module, reads its promises and makes one lock of it. Tells when it begins, and then what is wrong: an empty text when nothing is.

import { Redis } from 'ioredis';
import type { LockOptions } from '../../locks/lock.ts';
import { readExternalModule, supervised } from '../../services/inventory/external-lock.ts';
import { lockKey } from '../../services/inventory/store.ts';
import { readPromises } from '../evidence/promises.ts';

const [file = ''] = process.argv.slice(2);
// Nothing is asked of it here.
const redis = new Redis({ lazyConnect: true });
const options = {
  redis,
  key: lockKey('001', 'check'),
  ownerToken: 'check:0001',
  leaseMs: 1_000,
  retryDelayMs: 20,
  onLeaseLost() {},
} as unknown as LockOptions;

process.send?.('');
const problem = await readExternalModule(file)
  .then(({ createLock, promises }) => {
    readPromises(promises);
    supervised(createLock)(options);
  })
  .then(
    () => '',
    (error: Error) => error.message,
  );
process.send?.(problem, () => process.exit(0));
