import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeTempDir, projectDir } from '../../stack/parts.ts';
import { findOnPath } from '../../stack/path.ts';

const flock = findOnPath('flock');

/** A project without packages that has the script. */
function ownProject() {
  const temp = makeTempDir();
  onTestFinished(temp.remove);
  const project = join(temp.dir, 'project');
  mkdirSync(join(project, 'stack'), { recursive: true });
  copyFileSync(join(projectDir, 'stack/packages.sh'), join(project, 'stack/packages.sh'));
  writeFileSync(join(project, 'package.json'), '{ "name": "project" }');
  writeFileSync(join(project, 'package-lock.json'), '{ "name": "project", "lockfileVersion": 3, "packages": {} }');
  return { dir: temp.dir, project };
}

test('packages.sh: says and does nothing when the packages are newer than the lock file', () => {
  const now = new Date();
  utimesSync(join(projectDir, 'node_modules/.package-lock.json'), now, now);
  const { status, stdout, stderr } = spawnSync('sh', ['stack/packages.sh'], { cwd: projectDir, encoding: 'utf8' });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
});

test('packages.sh: a link to packages of elsewhere is used when they are up to date, and never installed into', () => {
  const { dir, project } = ownProject();
  const packages = join(dir, 'packages');
  mkdirSync(packages);
  writeFileSync(join(packages, '.package-lock.json'), '{}');
  symlinkSync(packages, join(project, 'node_modules'));
  const run = () => spawnSync('sh', ['stack/packages.sh'], { cwd: project, encoding: 'utf8' });

  const fresh = run();
  utimesSync(join(packages, '.package-lock.json'), 0, 0);
  const old = run();

  expect(fresh).toMatchObject({ status: 0, stderr: '' });
  expect(old.status).toBe(1);
  expect(old.stderr).toContain('node_modules is a symbolic link');
  expect(readdirSync(packages)).toEqual(['.package-lock.json']);
});

test.skipIf(flock === undefined)('packages.sh: of two at once one installs, and the other waits for it', async () => {
  const { dir, project } = ownProject();
  const programs = {
    flock: `echo claims; exec ${flock} "$@"`,
    // It works until its input ends.
    npm: 'read -r line; mkdir node_modules',
  };
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(join(dir, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  }
  const env = { PATH: `${dir}:${process.env.PATH}` };
  const runs = [0, 1].map(() => spawn('sh', ['stack/packages.sh'], { cwd: project, env }));
  const claims = runs.map(({ stdout }) => once(stdout, 'data'));
  const said = runs.map(async ({ stderr }) => (await stderr.setEncoding('utf8').toArray()).join(''));
  const codes = runs.map((run) => once(run, 'exit'));

  await Promise.all(claims);
  for (const { stdin } of runs) stdin.end();

  expect((await Promise.all(codes)).map(([code]) => code)).toEqual([0, 0]);
  expect((await Promise.all(said)).toSorted()).toEqual(['', 'Installing the packages (once) ...\n']);
});
