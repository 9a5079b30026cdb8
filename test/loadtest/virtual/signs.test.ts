// Who gives no sign: it computes for ever, or it may have had no CPU.

import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { watchSilence } from '../../../loadtest/virtual/signs.ts';
import { cleanUpLater } from '../../clean-up.ts';

test.each([
  ['computes for ever', 'for (;;) {}', { keptMs: 100, silenceMs: Number.POSITIVE_INFINITY }, 'fail'],
  ['does not compute', 'setInterval(() => {}, 1e9)', { keptMs: 10_000, silenceMs: 1_500 }, 'unknown'],
] as const)('a process that gives no sign and %s', async (_, program, limits, verdict) => {
  const child = spawn(process.execPath, ['-e', program], { stdio: 'ignore' });
  cleanUpLater(() => void child.kill('SIGKILL'));

  const found = await new Promise((resolve) => {
    const silence = watchSilence(child.pid ?? 0, limits, () => {
      silence.close();
      resolve(silence.found()?.verdict);
    });
    silence.hearSign();
  });

  expect(found).toBe(verdict);
});
