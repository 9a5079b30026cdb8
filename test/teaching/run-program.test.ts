import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ProgramFailed, runProgram } from '../../teaching/run-program.ts';

const { signal } = new AbortController();

function isAlive(pid: number) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('run a program: gives what it prints, and hears what fails', async () => {
  expect(await runProgram('sh', ['-c', 'echo here'], { signal })).toBe('here\n');
  await expect(runProgram('sh', ['-c', 'echo why >&2; exit 3'], { signal })).rejects.toThrow(/^sh -c .* failed: why$/);
  await expect(runProgram('sh', ['-c', 'exit 3'], { signal })).rejects.toBeInstanceOf(ProgramFailed);
  await expect(runProgram('no-such-program', [], { signal })).rejects.toThrow(/ENOENT/);
});

test('run a program: one that is stopped ends with what it has started', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'program-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const stopping = new AbortController();
  const running = runProgram('sh', ['-c', 'sleep 600 & echo $! >child; wait'], { cwd: dir, signal: stopping.signal });
  const child = await vi.waitUntil(() => Number(readChild()), { timeout: 60_000 });
  expect(isAlive(child)).toBe(true);

  stopping.abort(new Error('enough'));

  await expect(running).rejects.toThrow('enough');
  await vi.waitUntil(() => !isAlive(child), { timeout: 60_000 });

  function readChild() {
    try {
      return readFileSync(join(dir, 'child'), 'utf8');
    } catch {
      return '';
    }
  }
});

test('run a program: nothing is started when it is stopped already', async () => {
  await expect(runProgram('sh', ['-c', 'exit 0'], { signal: AbortSignal.abort(new Error('no')) })).rejects.toThrow(
    'no',
  );
});
