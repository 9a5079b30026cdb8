import type { Attempt } from '../attempt.ts';

export const attempts: Attempt[] = [
  {
    what: 'gives up the lock, and forgets the key of the dashboard',
    from: 'lock',
    replace: [['releaseIfOwner(redis, [holderKey]', 'releaseIfOwner(redis, [key]']],
    fails: 'plain',
    reason: 'there is still the key lock:holder',
  },
  {
    what: 'deletes both keys in one command',
    from: 'lock',
    replace: [
      ['(await releaseIfOwner(redis, [holderKey], [ownerToken])) === 0', '(await redis.del(holderKey, key)) === 0'],
      ["const releaseIfOwner = readScript('release-if-owner');\n\n", ''],
      ["import { readScript } from '../../locks/drivers/script.ts';\n", ''],
    ],
    fails: 'slow-holder',
    reason: 'changes the lock of',
  },
  {
    what: 'lets the sales wait for the key that is given up',
    from: 'lock',
    replace: [
      ["redis.set(key, ownerToken, 'PX', leaseMs, 'NX')", "redis.set(holderKey, ownerToken, 'PX', leaseMs, 'NX')"],
      ["redis.set(holderKey, ownerToken, 'PX', leaseMs);", "redis.set(key, ownerToken, 'PX', leaseMs);"],
    ],
    fails: 'plain',
    reason: 'there is still the key lock',
  },
];
