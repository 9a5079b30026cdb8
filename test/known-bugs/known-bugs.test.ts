import { describe, expect, test } from 'vitest';
import { makeTempDir } from '../../scripts/stack/parts.ts';
import { nameOfExternalLock } from '../../services/inventory/external-module.ts';
import { cleanUpLater } from '../clean-up.ts';
import { lockOptions } from '../locks/lock-options.ts';
import { ownRedis } from '../locks/own-redis.ts';
import { controls, knownBugs, promisesOf } from './bugs.ts';
import { writeKnownBug } from './known-bug.ts';

const redis = ownRedis();
const { dir, remove } = makeTempDir();
cleanUpLater(remove);

test('known bugs: each has a name of its own, and a reason', () => {
  const all = [...controls, ...knownBugs];

  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  for (const { name, why } of all) expect({ name, why }).toEqual({ name, why: expect.stringMatching(/^\S.*\.$/) });
});

describe('known bugs: each is a lock that seems to work', () => {
  test.each([...controls, ...knownBugs].map((bug) => [bug.name, bug] as const))('%s', async (name, bug) => {
    const module = writeKnownBug(bug, promisesOf(bug), dir);
    const { createLock } = await import(module);
    const client = redis.connect();
    const options = lockOptions({ redis: client, key: redis.key(), leaseMs: 5_000, onLeaseLost() {} });

    for (let sale = 0; sale < 3; sale += 1) {
      const lock = createLock({ ...options, ownerToken: `${name}:${sale}` });
      await lock.acquire();
      expect(await client.keys('*')).not.toEqual([]);
      await lock.release();
    }

    expect(nameOfExternalLock(module)).toBe(name);
    expect(await client.get(redis.key())).toBeNull();
    client.disconnect();
    const other = redis.connect();
    await other.flushall();
  });
});
