// The search over sales of several skus: what it must find, and what it must not.

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { numbered } from '../../prove/words.ts';
import { projectDir } from '../../stack/parts.ts';
import { writeModule } from '../loadtest/grade/modules.ts';
import { fileOf, scopeNamed, searchIn } from './own-locks.ts';

const SCOPE = 'crossed-skus';

/** A lock of several skus in a file of its own. `locks` says which locks it takes, in their order. */
function writeLocks(locks: string): string {
  const fenced = JSON.stringify(join(projectDir, 'locks/beyond/fenced.ts'));
  return writeModule(
    'locks.ts',
    `import { createLock } from ${fenced};
export { createLock };
export const createMultiLock = (options, keys) => {
  const locks = ${locks}.map((key) => createLock({ ...options, key }));
  return {
    async acquire(signal) { for (const lock of locks) await lock.acquire(signal); },
    async release() { for (const lock of locks.toReversed()) await lock.release(); },
    lost: new AbortController().signal,
    fencingTokenOf: () => undefined,
  };
};
`,
  );
}

test('in the order of the keys nobody waits in a circle, with two sales each as well', async () => {
  for (const sales of [1, 2]) {
    const { verdict, cut, reason } = await searchIn(fileOf('multi'), SCOPE, { sales });
    expect({ verdict, cut, reason }).toMatchObject({ verdict: 'holds', cut: 0 });
  }
});

test('in the order of the request two wait for each other: the shortest way has six steps', async () => {
  const { verdict, reason, counterexample = [] } = await searchIn('test/prove/unordered.ts', SCOPE);

  expect({ verdict, reason }).toEqual({
    verdict: 'fails',
    reason: 'A and B wait for each other: every lock is held, and nobody is inside.',
  });
  expect(counterexample).toHaveLength(6);
  expect(numbered(counterexample).at(-1)).toMatch(/B acquire-fenced of lock, .* → null$/);
});

test('a sale that is lost of the second sku alone is found', async () => {
  const script = (process: number) => ({ basket: process === 0 ? [1, 2] : [2] });
  const scope = { ...scopeNamed(SCOPE), demands: ['no lost sale' as const], script };
  const { verdict, reason } = await searchIn(writeLocks('keys.filter((key) => key === "lock")'), scope);

  expect({ verdict, reason }).toEqual({
    verdict: 'fails',
    reason: '2 of 10 units were sold, but 9 are left of stock:2: 1 sold twice.',
  });
});
