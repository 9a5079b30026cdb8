import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { bundledArgs, hostArgs } from '../../stack/bundle.ts';
import { cacheDir, projectDir } from '../../stack/parts.ts';

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

test('bundle: it is kept, and made anew when a file that it imports has changed', async () => {
  const bundler = (await bundledArgs('stack/bundle.ts')).at(-1);
  write('imported', "export const said: string = 'first';");
  const file = write('importing', "import { said } from './imported.ts';\nconsole.log(said);");

  /** A process of its own makes the bundle, and what it prints is read. */
  async function run() {
    const make = `const { bundledArgs } = await import(${JSON.stringify(bundler)});
      console.log((await bundledArgs(${JSON.stringify(file)})).at(-1));`;
    const made = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', make]);
    const bundle = made.stdout.trim();
    const { stdout } = await promisify(execFile)(process.execPath, [bundle]);
    return { printed: stdout, madeAt: statSync(bundle).mtimeMs };
  }

  // What was saved in the very moment of the first is looked at again.
  await run();
  const first = await run();
  expect(await run()).toEqual(first);
  expect(first.printed).toBe('first\n');

  write('imported', "export const said: string = 'other';");
  expect(await run()).toMatchObject({ printed: 'other\n' });
});

test('bundle: a file that loads modules of others shares with them the classes of ioredis and of locks', async () => {
  const from = `import { Redis } from 'ioredis';\nimport { LockNotHeldError } from '${projectDir}locks/lock.ts';`;
  const loaded = join(projectDir, sources, 'loaded.mts');
  writeFileSync(loaded, `${from}\nexport const classes: unknown[] = [Redis, LockNotHeldError];`);
  const file = write(
    'loading',
    `${from}
import { z } from 'zod';
const { classes } = await import(process.argv[2] ?? '');
console.log(classes[0] === Redis, classes[1] === LockNotHeldError, z.string().parse('zod'));`,
  );
  const args = [...(await hostArgs(file)), loaded];

  const { stdout } = await promisify(execFile)(process.execPath, args);

  expect(args.at(-2)).toContain('loading.ts.host.mjs');
  expect(stdout).toBe('true true zod\n');
});
