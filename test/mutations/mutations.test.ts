import { expect, test } from 'vitest';
import { projectDir } from '../../stack/parts.ts';
import { catalogue } from './catalogue.ts';
import { whyStale } from './try-mutations.ts';

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
