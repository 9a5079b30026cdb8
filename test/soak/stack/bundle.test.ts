import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { bundledArgs } from '../../../stack/bundle.ts';
import { cacheDir, projectDir } from '../../../stack/parts.ts';

/** A folder of the project that git leaves alone, and where its bundles go. */
const sources = `node_modules/.cache/lockstep/bundle-test-${process.pid}`;
beforeAll(() => {
  mkdirSync(join(projectDir, sources), { recursive: true });
  return () => {
    for (const dir of [projectDir, cacheDir]) rmSync(join(dir, sources), { recursive: true });
  };
});

const node = async (...args: string[]) => (await promisify(execFile)(process.execPath, args)).stdout;
const run = async (file: string) => node(...(await bundledArgs(file)));

/** A program of heavy packages that says this: what V8 has compiled of them, and its own bundle. */
async function heavy(said: string) {
  const file = `${sources}/${said}.ts`;
  const source = `import express from 'express';
import { collectDefaultMetrics } from 'prom-client';
import { z } from 'zod';
console.log(typeof express, typeof express.json, typeof collectDefaultMetrics, z.string().parse('${said}'));`;
  writeFileSync(join(projectDir, file), source);
  const text = readFileSync((await bundledArgs(file)).at(-1) ?? '', 'utf8');
  const [, packages = ''] = /loadPackages\("([^"]+)"\)/.exec(text) ?? [];
  const compiled = () =>
    readdirSync(dirname(packages))
      .map((name) => join(dirname(packages), name))
      .filter((path) => path.startsWith(`${packages}.`));
  onTestFinished(() => {
    for (const path of [packages, ...compiled()]) rmSync(path);
  });
  for (const old of compiled()) rmSync(old);
  return { file, text, packages, compiled, says: `function function function ${said}\n` };
}

describe('bundle: heavy packages', () => {
  test('they come from a file of their own, and a start takes what V8 has compiled of it before', async () => {
    const { file, text, compiled, says } = await heavy('first');
    expect(text.length).toBeLessThan(50_000);
    expect(await run(file)).toBe(says);
    const [kept = ''] = compiled();
    const { ino, size } = statSync(kept);
    expect(size).toBeGreaterThan(100_000);
    expect(await run(file)).toBe(says);
    // It was read, and not made again.
    expect(statSync(kept).ino).toBe(ino);
  });

  test('a bundle whose packages were removed is made again', async () => {
    const bundler = (await bundledArgs('stack/bundle.ts')).at(-1);
    const { file, packages, says } = await heavy('third');
    rmSync(packages);
    const make = `await (await import(${JSON.stringify(bundler)})).bundledArgs(${JSON.stringify(file)});`;
    await node('--input-type=module', '--eval', make);

    expect(await run(file)).toBe(says);
  });
});
