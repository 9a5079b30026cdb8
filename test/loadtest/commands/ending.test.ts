import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { AS_TAUGHT, COULD_NOT_RUN, NOT_AS_TAUGHT, runToEnd } from '../../../loadtest/commands/ending.ts';
import { nodeArgs, projectDir } from '../../../scripts/stack/parts.ts';
import { writeModule } from '../grade/modules.ts';

const fails = (message: string) => () => Promise.reject(new Error(message));

describe('the end of a command', () => {
  let printed: string[];

  beforeEach(() => {
    printed = [];
    vi.spyOn(process.stderr, 'write').mockImplementation((line) => printed.push(String(line)) > 0);
  });

  afterEach(() => {
    vi.restoreAllMocks();
  });

  test.each([AS_TAUGHT, NOT_AS_TAUGHT])('it is what the run says: %d', async (code) => {
    expect(await runToEnd('The drill failed', async () => code)).toBe(code);
    expect(printed).toEqual([]);
  });

  test('the run fails: 2, a line, and what was open is closed', async () => {
    const close = vi.fn(async () => {});
    expect(await runToEnd('The drill failed', fails('no Redis'), close)).toBe(COULD_NOT_RUN);
    expect(printed).toEqual(['The drill failed: no Redis\n']);
    expect(close).toHaveBeenCalledOnce();
  });

  test('what was open cannot be closed: 2, and a line', async () => {
    expect(await runToEnd('The drill failed', async () => AS_TAUGHT, fails('a node lives on'))).toBe(COULD_NOT_RUN);
    expect(printed).toEqual(['The drill failed: a node lives on\n']);
  });

  test('both fail: 2, and a line for each', async () => {
    expect(await runToEnd('The drill failed', fails('no Redis'), fails('a node lives on'))).toBe(COULD_NOT_RUN);
    expect(printed).toEqual(['The drill failed: no Redis\n', 'The drill failed: a node lives on\n']);
  });
});

test('what a command writes to a pipe is read to its end, however late the reader is', async () => {
  const bytes = 1_000_000;
  const script = writeModule(
    'writes-much.mts',
    `import { exitWhenWritten } from '${join(projectDir, 'loadtest/commands/ending.ts')}';
process.stdout.write('x'.repeat(${bytes}));
process.stderr.write('written');
setInterval(() => {}, 1_000);
await exitWhenWritten();
`,
  );
  const child = spawn(process.execPath, [...nodeArgs('').slice(0, -1), script], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // What it has written is more than a pipe has room for, and nobody has read of it yet.
  await once(child.stderr, 'data');

  expect((await text(child.stdout)).length).toBe(bytes);
  expect(child.exitCode ?? (await new Promise((resolve) => child.once('exit', resolve)))).toBe(0);
});
