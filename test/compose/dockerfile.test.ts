import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectDir } from '../../scripts/stack/parts.ts';
import { services } from './compose-file.ts';
import { copiedInto, instructionsOf, lastOf, stages } from './dockerfile.ts';
import { needsOf } from './imports.ts';

const packageJson = JSON.parse(readFileSync(join(projectDir, 'package.json'), 'utf8'));
const mains = { inventory: 'services/inventory/main.ts', loadtest: 'loadtest/commands/replay.ts' };

test.each(Object.entries(mains))(
  'image %s: it has all that its program imports, and runs it as the user node',
  (target, main) => {
    const { files, packages } = needsOf(main);
    const copied = copiedInto(target);
    const isCopied = (file: string) => copied.some((path) => file === path || file.startsWith(`${path}/`));

    expect([...files].filter((file) => !isCopied(file))).toEqual([]);
    // tsx runs it.
    expect([...packages, 'tsx'].filter((name) => !(name in packageJson.dependencies))).toEqual([]);
    expect([files.size > 10, packages.size > 3]).toEqual([true, true]);
    expect(JSON.parse(lastOf(target, 'CMD'))).toEqual(['node', '--import', 'tsx', main]);
    expect(['USER', 'WORKDIR', 'ENV'].map((name) => lastOf(target, name))).toEqual([
      'node',
      '/app',
      'NODE_ENV=production',
    ]);
  },
);

test('compose: every image that it builds is a stage of this Dockerfile', () => {
  const builds = Object.values(services).flatMap(({ build }) => build ?? []);

  expect(builds).toHaveLength(3);
  for (const { context, dockerfile, target } of builds) {
    expect([context, dockerfile]).toEqual(['.', 'services/inventory/Dockerfile']);
    expect(stages.map(({ name }) => name)).toContain(target);
  }
});

test('packages: those of the lock file, without those for development, and no install script runs', () => {
  const [install] = instructionsOf('packages').filter(({ name }) => name === 'RUN');

  expect(install?.text).toMatch(/^npm ci --omit=dev --ignore-scripts( |$)/);
  expect(copiedInto('packages')).toEqual(['package.json', 'package-lock.json']);
  expect(lastOf('loadtest', 'COPY --from=packages')).toBe('/app/node_modules node_modules');
});

test('packages: a node has none that only the load test needs', () => {
  const [uninstall = '', ...packages] = lastOf('node-packages', 'RUN')
    .split(/ (?!-)/)
    .slice(1);
  const needed = [...needsOf(mains.inventory).packages, 'tsx', 'esbuild'];

  expect(uninstall).toMatch(/^uninstall --omit=dev --ignore-scripts( |$)/);
  // tsx runs the node, and needs esbuild.
  expect(packages).toEqual(Object.keys(packageJson.dependencies).filter((name) => !needed.includes(name)));
  expect(lastOf('inventory', 'COPY --from=node-packages')).toBe('/app/node_modules node_modules');
});

test('node: the version of the image is one that the project supports', () => {
  const [image, least] = [stages[0]?.from ?? '', packageJson.engines.node].map((text) => Number(/\d+/.exec(text)?.[0]));

  expect(image).toBeGreaterThan(Number(least));
});

test('.dockerignore: what the Dockerfile copies gets through, and nothing else does', () => {
  const lines = readFileSync(join(projectDir, '.dockerignore'), 'utf8').split('\n');
  const [all, ...rest] = lines.filter((line) => line !== '' && !line.startsWith('#'));
  const through = rest.filter((line) => line.startsWith('!'));
  const copied = new Set([...copiedInto('packages'), ...copiedInto('loadtest')]);

  expect(all).toBe('*');
  // The packages of this machine, inside a folder that gets through.
  expect(rest.filter((line) => !line.startsWith('!'))).toEqual(['loadtest/peers/node_modules']);
  expect(through.map((line) => line.replace(/^!/, '')).toSorted()).toEqual([...copied].toSorted());
  for (const path of copied) expect(existsSync(join(projectDir, path)), path).toBe(true);
});
