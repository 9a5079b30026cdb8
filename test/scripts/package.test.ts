import { execFileSync } from 'node:child_process';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import commands from '../../scripts/commands.json' with { type: 'json' };
import { projectDir } from '../../stack/parts.ts';
import { exists, readText } from '../lesson/project-files.ts';

const { dependencies, scripts } = JSON.parse(readText('package.json')) as Record<string, Record<string, string>>;
/** They change the clone itself. */
const OF_CLONE = ['docs', 'pictures'];
const [packed] = JSON.parse(
  execFileSync('npm', ['pack', '--dry-run', '--ignore-scripts', '--json'], { cwd: projectDir, encoding: 'utf8' }),
) as [{ size: number; files: { path: string; mode: number }[] }];
const paths = packed.files.map(({ path }) => path);

test('package: at most 5 MB, and nothing but what it runs and explains', () => {
  const tops = new Set(paths.map((path) => path.split('/', 1)[0]).filter((top) => top !== 'dist'));

  expect([...tops].sort()).toEqual(
    '.env.example README.md README.zh-CN.md docs examples loadtest locks lua nginx package.json prove scripts services simulation stack workshop'.split(
      ' ',
    ),
  );
  expect(paths.filter((path) => /node_modules|(^|\/)mine\/|\.test\.|Dockerfile|decisions/.test(path))).toEqual([]);
  expect(packed.size).toBeLessThan(5e6);
});

test('commands: each npm script that runs TypeScript is a command of the package, apart from those that change the clone', () => {
  const ofTypeScript = Object.keys(scripts ?? {}).filter((name) => exists(`scripts/${name}.ts`));
  const own = Object.keys(commands).filter((name) => paths.includes(`scripts/${name}.ts`));

  expect(Object.keys(commands).toSorted()).toEqual(ofTypeScript.toSorted());
  expect(ofTypeScript.filter((name) => !own.includes(name)).toSorted()).toEqual(OF_CLONE);
});

test('package: it has every file that its commands and processes import, and asks for the packages', async () => {
  const mains = ['stack/bundle.ts', 'services/inventory/main.ts', 'prove/worker.ts', 'loadtest/grade/check-module.ts'];
  const { metafile } = await build({
    entryPoints: [...paths.filter((path) => /^scripts\/[\w-]+\.ts$/.test(path)), ...mains],
    ...{ absWorkingDir: projectDir, outdir: 'dist', bundle: true, write: false, metafile: true },
    ...{ platform: 'node', format: 'esm', packages: 'external', target: 'node20', logLevel: 'silent' },
  });
  const imported = Object.values(metafile.inputs).flatMap(({ imports }) => imports.filter(({ external }) => external));
  const names = imported.map(({ path }) => path.split('/', path.startsWith('@') ? 2 : 1).join('/'));

  expect(Object.keys(metafile.inputs).filter((file) => !paths.includes(file))).toEqual([]);
  expect([...new Set(names)].filter((name) => !name.startsWith('node:') && !(name in (dependencies ?? {})))).toEqual(
    [],
  );
});
