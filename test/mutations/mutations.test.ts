import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTempDir, projectDir } from '../../scripts/stack/parts.ts';
import { cleanUpLater } from '../clean-up.ts';
import { catalogue } from './catalogue.ts';
import { type Mutation, mutate } from './mutation.ts';
import { whyStale } from './try-mutations.ts';

const minus: Mutation = {
  name: 'minus',
  file: 'sum.ts',
  find: 'a + b',
  replace: 'a - b',
  why: 'It subtracts.',
  tests: ['test/sum.test.ts'],
};

test.each<[what: string, mutation: Mutation, why: string | undefined]>([
  ['all is there', minus, undefined],
  ['its text is gone', { ...minus, find: 'a * b' }, 'sum.ts does not have the text "a * b".'],
  ['its text is there twice', { ...minus, find: 'export' }, 'sum.ts has the text "export" 2 times.'],
  ['its test is gone', { ...minus, tests: ['test/gone.test.ts'] }, 'There is no test/gone.test.ts.'],
])('mutations: %s: whether it is stale', (_what, mutation, why) => {
  const { dir, remove } = makeTempDir();
  cleanUpLater(remove);
  mkdirSync(join(dir, 'test'));
  writeFileSync(join(dir, 'test/sum.test.ts'), '');
  const sum = 'export const sum = (a: number, b: number) => a + b;\nexport const isZero = (a: number) => a === 0;\n';
  writeFileSync(join(dir, 'sum.ts'), sum);

  expect(whyStale(dir, mutation)).toBe(why);
});

test('mutations: the text is replaced as it stands, whatever signs it has', () => {
  expect(mutate('a $& b', { file: 'a.ts', find: '$&', replace: '$1 $$' })).toBe('a $1 $$ b');
});

test('mutations: each has a name of its own and a reason, changes its file, and is not stale', () => {
  expect(new Set(catalogue.map(({ name }) => name)).size).toBe(catalogue.length);
  for (const mutation of catalogue) {
    const { name, find, replace, why, tests } = mutation;
    expect({ name, isKebab: /^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) }).toEqual({ name, isKebab: true });
    expect({ name, changes: find !== replace, tests: tests.length > 0 }).toEqual({ name, changes: true, tests: true });
    expect({ name, why }).toEqual({ name, why: expect.stringMatching(/^\S.*\.$/) });
    expect({ name, stale: whyStale(projectDir, mutation) }).toEqual({ name, stale: undefined });
  }
});
