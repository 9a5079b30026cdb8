import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { bundledArgs } from '../../../scripts/stack/bundle.ts';
import { cacheDir, projectDir } from '../../../scripts/stack/parts.ts';

/** A folder of the project that git leaves alone, and where its bundles go. */
const sources = `node_modules/.cache/lockstep/bundle-test-${process.pid}`;

beforeAll(() => {
  mkdirSync(join(projectDir, sources), { recursive: true });
  return () => {
    rmSync(join(projectDir, sources), { recursive: true });
    rmSync(join(cacheDir, sources), { recursive: true });
  };
});

function write(name: string, source: string) {
  const file = `${sources}/${name}.ts`;
  writeFileSync(join(projectDir, file), source);
  return file;
}

test('bundle: the end of one does not end another in progress', async () => {
  const small = write('small', 'console.log(1)');
  const large = 'loadtest/commands/staircase.ts';
  onTestFinished(() => rmSync(join(cacheDir, `${large}.mjs`), { force: true }));

  const [first, second] = await Promise.all([bundledArgs(large), bundledArgs(small)]);

  expect(first.at(-1)).toContain('staircase.ts.mjs');
  expect(second.at(-1)).toContain('small.ts.mjs');
});

test('bundle: one that failed is tried again', async () => {
  const file = write('broken', 'const = 1');
  await expect(bundledArgs(file)).rejects.toThrow('Expected identifier');

  write('broken', 'console.log(1)');

  expect((await bundledArgs(file)).at(-1)).toContain('broken.ts.mjs');
});
