import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeTempDir, projectDir } from '../../scripts/stack/parts.ts';

test('packages.sh: says and does nothing when the packages are newer than the lock file', () => {
  const now = new Date();
  utimesSync(join(projectDir, 'node_modules/.package-lock.json'), now, now);
  const { status, stdout, stderr } = spawnSync('sh', ['scripts/packages.sh'], { cwd: projectDir, encoding: 'utf8' });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
});

test('packages.sh: a link to packages of elsewhere is used when they are up to date, and never installed into', () => {
  const temp = makeTempDir();
  onTestFinished(temp.remove);
  const [project, packages] = [join(temp.dir, 'project'), join(temp.dir, 'packages')];
  mkdirSync(join(project, 'scripts'), { recursive: true });
  mkdirSync(packages);
  copyFileSync(join(projectDir, 'scripts/packages.sh'), join(project, 'scripts/packages.sh'));
  writeFileSync(join(project, 'package.json'), '{ "name": "project" }');
  writeFileSync(join(project, 'package-lock.json'), '{ "name": "project", "lockfileVersion": 3, "packages": {} }');
  writeFileSync(join(packages, '.package-lock.json'), '{}');
  symlinkSync(packages, join(project, 'node_modules'));
  const run = () => spawnSync('sh', ['scripts/packages.sh'], { cwd: project, encoding: 'utf8' });

  const fresh = run();
  utimesSync(join(packages, '.package-lock.json'), 0, 0);
  const old = run();

  expect(fresh).toMatchObject({ status: 0, stderr: '' });
  expect(old.status).toBe(1);
  expect(old.stderr).toContain('node_modules is a symbolic link');
  expect(readdirSync(packages)).toEqual(['.package-lock.json']);
});
