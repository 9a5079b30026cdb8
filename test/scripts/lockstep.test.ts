import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import commands from '../../scripts/commands.json' with { type: 'json' };
import { projectDir } from '../../stack/parts.ts';
import { stageDiff } from '../../workshop/teaching/stage-diff.ts';

const lockstep = (...args: string[]) =>
  spawnSync(process.execPath, [join(projectDir, 'scripts/lockstep.mjs'), ...args], { encoding: 'utf8' });

test('lockstep: help names every command, and one that does not exist ends with 2', () => {
  const { status, stdout } = lockstep('--help');
  const unknown = lockstep('stare');

  expect(status).toBe(0);
  for (const name of Object.keys(commands)) expect(stdout).toContain(`  ${name} `);
  expect([unknown.status, unknown.stdout]).toEqual([2, '']);
  expect(unknown.stderr).toContain('there is no command stare. The commands are start, ');
});

test('lockstep: it runs a command with what stands behind it, and ends as that does', () => {
  const { status, stdout } = lockstep('diff', '4');

  expect([status, stdout]).toEqual([0, stageDiff(4)]);
  expect(lockstep('diff', '99').status).toBe(2);
  expect(lockstep('--stage', 'x').stderr).toContain('--stage x is unknown');
});
