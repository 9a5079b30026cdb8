import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { judgementSchema, resultsSchema } from '../../../loadtest/evidence/results.ts';
import { makeTempDir, projectDir } from '../../../stack/parts.ts';
import { cleanUpLater } from '../../clean-up.ts';

const temp = makeTempDir();
cleanUpLater(temp.remove);
/** Somebody's folder, without a clone around it. */
const folder = join(temp.dir, 'own');
let archive = '';
const shop = join(projectDir, 'test/loadtest/worlds/foreign/shop.mjs');

beforeAll(() => {
  mkdirSync(folder);
  const [packed] = JSON.parse(npm(projectDir, 'pack', '--json', '--silent', '--pack-destination', folder));
  archive = packed.filename;
});

function npm(cwd: string, ...args: string[]) {
  return execFileSync('npm', args, { cwd, encoding: 'utf8', env: own() });
}

/** The settings of the npm that runs these tests, and of its project, are not those of the folder. */
function own(): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env;
  // npx keeps what it has installed in the cache.
  return { PATH, HOME, NO_COLOR: '1', npm_config_cache: join(temp.dir, 'cache') };
}

function lockstep(...args: string[]) {
  return spawnSync('npx', ['--yes', `./${archive}`, ...args], { cwd: folder, encoding: 'utf8', env: own() });
}

const newest = (file: string) => readFileSync(join(folder, 'reports/latest', file), 'utf8');

test('package, without a command: the stages are replayed on real servers, and the report is in the folder', () => {
  const { status, stdout, stderr } = lockstep('--stage', '0,2', '--drill', 'rush');

  expect([status, stderr]).toEqual([0, '']);
  expect(stdout).toContain('2-recursive-retry');
  const { command, stages, environment } = resultsSchema.parse(JSON.parse(newest('results.json')));
  expect(stages.map(({ stage }) => stage)).toEqual(['0-none', '2-recursive-retry']);
  expect(command).toBe('lockstep start --stage 0,2 --drill rush');
  expect(environment.commit).toBe(JSON.parse(readFileSync(join(projectDir, 'package.json'), 'utf8')).version);
});

test('package, grade: a lock that it has written is judged in virtual time, and on real servers', () => {
  expect(lockstep('grade', '--new', 'my-lock.ts').stdout).toContain('lockstep grade ./my-lock.ts');

  for (const real of [[], ['--real']]) {
    const { status, stderr } = lockstep('grade', './my-lock.ts', '--drill', 'rush', '--states', '1000', ...real);
    expect([status, stderr]).toEqual([0, '']);
    expect(resultsSchema.parse(JSON.parse(newest('results.json'))).grades?.[0]?.answer?.verdict).toBe('holds');
  }
});

test('package, judge: two copies of a service are broken', () => {
  const { stdout } = lockstep('judge', `node ${shop}`, '--drill', 'rush', '--json');

  expect(judgementSchema.parse(JSON.parse(stdout)).drills.map(({ drill }) => drill)).toEqual(['rush']);
});

test('package, page: one file in the folder', () => {
  expect(lockstep('page').status).toBe(0);
  expect(readFileSync(join(folder, 'lockstep.html'), 'utf8')).toMatch(/^<!doctype html>/i);
});

test('package: installed, it exports the contract and grade()', () => {
  const project = join(temp.dir, 'project');
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }');
  npm(project, 'install', '--no-audit', '--no-fund', join(folder, archive));
  writeFileSync(
    join(project, 'lock.ts'),
    readFileSync(join(folder, 'my-lock.ts'), 'utf8').replace(
      'import type',
      "import { LockNotHeldError } from 'lockstep';\nvoid LockNotHeldError;\nimport type",
    ),
  );
  writeFileSync(
    join(project, 'main.ts'),
    `import { type CreateLock, grade, judge, LockNotHeldError, type Results } from 'lockstep';
const results: Results = await grade('./lock.ts', { flags: ['--drill', 'rush', '--states', '100'] });
const createLock: CreateLock | undefined = undefined;
console.log(results.grades?.[0]?.answer?.verdict, typeof judge, new LockNotHeldError('x').code, createLock);
`,
  );
  writeFileSync(
    join(project, 'tsconfig.json'),
    '{ "compilerOptions": { "module": "nodenext", "target": "es2023", "strict": true, "skipLibCheck": true, "types": [], "outDir": "built", "lib": ["es2023"] }, "files": ["main.ts"] }',
  );

  const tsc = join(projectDir, 'node_modules/.bin/tsc');
  const { stdout } = spawnSync(tsc, [], { cwd: project, encoding: 'utf8' });
  expect(stdout).toBe('');
  expect(execFileSync(process.execPath, ['built/main.js'], { cwd: project, encoding: 'utf8', env: own() })).toBe(
    'holds function LOCK_NOT_HELD undefined\n',
  );
});

test('package: a folder in which it worked has what it wrote there, and nothing else', () => {
  expect(readdirSync(folder).toSorted()).toEqual([archive, 'lockstep.html', 'my-lock.ts', 'reports']);
  expect(existsSync(join(folder, 'node_modules'))).toBe(false);
});
