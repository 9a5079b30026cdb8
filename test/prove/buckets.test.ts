import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { replay } from '../../prove/replay.ts';
import { writeModule } from '../loadtest/grade/modules.ts';
import { fileOf, open, scopeNamed, searchIn } from './own-locks.ts';

const isInBuckets = true;
const own = fileOf('buckets');

/** The strategy with one change, in a file of its own. */
function variant(text: string, changed: string): string {
  const code = readFileSync(own, 'utf8');
  expect(code).toContain(text);
  const fenced = join(dirname(own), 'fenced.ts');
  return writeModule('buckets.ts', code.replace(text, changed).replace("'./fenced.ts'", JSON.stringify(fenced)));
}

/** Searches for what is wrong with it. The counterexample is replayed. */
async function foundIn(file: string, scope: string) {
  const { verdict, reason, counterexample = [] } = await searchIn(file, scope, { isInBuckets });
  const processes = scopeNamed(scope).processes ?? 2;
  const size = { sales: 1, masters: 0, processes, isInBuckets };
  const difference = await replay(counterexample, { openLock: await open(file), scope: scopeNamed(scope), ...size });
  expect(difference).toBeUndefined();
  return { verdict, reason, steps: counterexample };
}

/** It looks at one bucket after the other. */
const oneByOne = () =>
  variant(
    'const units = await readBuckets();',
    `const { redis, stockKey } = options;
    const units: number[] = [];
    for (const key of [stockKey, stockKey + ':1']) units.push(Number(await redis.get(key)));`,
  );

// That the strategy itself holds takes longer: test/soak/prove.
describe('a stock in buckets', () => {
  test('one that looks at the buckets one by one overlooks a unit that is put back, and without that nothing is wrong', async () => {
    const { verdict, reason } = await foundIn(oneByOne(), 'put-back');

    expect([verdict, reason]).toEqual([
      'fails',
      expect.stringMatching(/^[BC] finds the stock sold out, although a unit was left all the time\.$/),
    ]);
    expect((await searchIn(oneByOne(), 'plain', { isInBuckets })).verdict).toBe('holds');
  });

  test('one that reads without its token: a late write comes between the read and the write of the next holder', async () => {
    const { verdict, reason } = await foundIn(
      variant('stock.read(lock.fencingToken)', 'stock.read(undefined)'),
      'crossed-write',
    );

    expect([verdict, reason]).toEqual(['fails', '2 of 2 units were sold, but 1 are left: 1 sold twice.']);
  });
});
