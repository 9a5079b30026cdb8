import { spawnSync } from 'node:child_process';
import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectDir } from '../../scripts/stack/parts.ts';

test('packages.sh: says and does nothing when the packages are newer than the lock file', () => {
  const now = new Date();
  utimesSync(join(projectDir, 'node_modules/.package-lock.json'), now, now);
  const { status, stdout, stderr } = spawnSync('sh', ['scripts/packages.sh'], { cwd: projectDir, encoding: 'utf8' });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
});
