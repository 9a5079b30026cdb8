import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { bundledArgs } from '../../../../scripts/stack/bundle.ts';
import { cacheDir, projectDir } from '../../../../scripts/stack/parts.ts';

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
  // Its packages take esbuild a while.
  const large = write('large', `import '${projectDir}loadtest/commands/staircase.ts'`);

  const [first, second] = await Promise.all([bundledArgs(large), bundledArgs(small)]);

  expect(first.at(-1)).toContain('large.ts.mjs');
  expect(second.at(-1)).toContain('small.ts.mjs');
});

describe('bundle: heavy packages', () => {
  const run = async (file: string) => (await promisify(execFile)(process.execPath, await bundledArgs(file))).stdout;
  /** The file of its packages, and what V8 has compiled of it. */
  async function packagesOf(file: string) {
    const text = readFileSync((await bundledArgs(file)).at(-1) ?? '', 'utf8');
    const [, packages = ''] = /loadPackages\("([^"]+)"\)/.exec(text) ?? [];
    const compiled = () =>
      readdirSync(dirname(packages)).filter((name) => join(dirname(packages), name).startsWith(`${packages}.`));
    return { text, packages, compiled: () => compiled().map((name) => join(dirname(packages), name)) };
  }

  function removeLater(packages: string, compiled: () => string[]) {
    onTestFinished(() => {
      for (const file of [packages, ...compiled()]) rmSync(file);
    });
  }

  /** Which packages it has is of this test alone, and so is their file. */
  const source = (said: string) => `import express from 'express';
import { collectDefaultMetrics } from 'prom-client';
import { z } from 'zod';
console.log(typeof express, typeof express.json, typeof collectDefaultMetrics, z.string().parse('${said}'));`;

  test('they come from a file of their own, and a start takes what V8 has compiled of it before', async () => {
    const file = write('heavy', source('said'));
    const { text, packages, compiled } = await packagesOf(file);
    removeLater(packages, compiled);
    for (const old of compiled()) rmSync(old);

    expect(text.length).toBeLessThan(50_000);
    expect(await run(file)).toBe('function function function said\n');
    const [kept = ''] = compiled();
    const { ino, size } = statSync(kept);
    expect(size).toBeGreaterThan(100_000);
    expect(await run(file)).toBe('function function function said\n');
    // It was read, and not made again.
    expect(statSync(kept).ino).toBe(ino);
  });

  test('what V8 can not read is made again', async () => {
    const file = write('broken-cache', source('other'));
    const { packages, compiled } = await packagesOf(file);
    removeLater(packages, compiled);
    await run(file);
    const [kept = ''] = compiled();
    writeFileSync(kept, 'nothing that V8 knows');

    expect(await run(file)).toBe('function function function other\n');
    expect(statSync(kept).size).toBeGreaterThan(100_000);
  });

  test('a bundle whose packages were removed is made again', async () => {
    const bundler = (await bundledArgs('scripts/stack/bundle.ts')).at(-1);
    const file = write('without', source('third'));
    const { packages, compiled } = await packagesOf(file);
    removeLater(packages, compiled);
    rmSync(packages);

    const make = `await (await import(${JSON.stringify(bundler)})).bundledArgs(${JSON.stringify(file)});`;
    await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', make]);

    expect(await run(file)).toBe('function function function third\n');
  });
});
