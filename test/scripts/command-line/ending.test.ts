import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test, vi } from 'vitest';
import { AS_EXPECTED, COULD_NOT_RUN, NOT_AS_EXPECTED, runToEnd } from '../../../scripts/command-line/ending.ts';
import { nodeArgs, projectDir } from '../../../stack/parts.ts';
import { writeModule } from '../../loadtest/grade/modules.ts';

const ends = (code: number) => () => Promise.resolve(code);
const fails = (message: string) => () => Promise.reject(new Error(message));
const noRedis = 'The drill failed: no Redis\n';
const livesOn = 'The drill failed: a node lives on\n';

test.each([
  ['it is what the run says', ends(NOT_AS_EXPECTED), ends(0), NOT_AS_EXPECTED, []],
  ['the run fails', fails('no Redis'), ends(0), COULD_NOT_RUN, [noRedis]],
  ['what was open cannot be closed', ends(AS_EXPECTED), fails('a node lives on'), COULD_NOT_RUN, [livesOn]],
  ['both fail', fails('no Redis'), fails('a node lives on'), COULD_NOT_RUN, [noRedis, livesOn]],
])('the end of a command: %s', async (_what, run, close, code, lines) => {
  const printed: string[] = [];
  vi.spyOn(process.stderr, 'write').mockImplementation((line) => printed.push(String(line)) > 0);
  onTestFinished(() => void vi.restoreAllMocks());
  const closed = vi.fn(close);

  expect(await runToEnd('The drill failed', run, async () => void (await closed()))).toBe(code);
  expect(printed).toEqual(lines);
  expect(closed).toHaveBeenCalledOnce();
});

test('a command ends whatever it has left behind, and what it writes to a pipe is read to its end, however late the reader is', async () => {
  const bytes = 1_000_000;
  const script = writeModule(
    'writes-much.mts',
    `import { endWith, NOT_AS_EXPECTED } from '${join(projectDir, 'scripts/command-line/ending.ts')}';
await endWith('It failed', async () => {
  process.stdout.write('x'.repeat(${bytes}));
  process.stderr.write('written');
  setInterval(() => {}, 1_000);
  return NOT_AS_EXPECTED;
});
`,
  );
  const child = spawn(process.execPath, [...nodeArgs('').slice(0, -1), script], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // What it has written is more than a pipe has room for, and nobody has read of it yet.
  await once(child.stderr, 'data');

  expect((await text(child.stdout)).length).toBe(bytes);
  expect(child.exitCode ?? (await new Promise((resolve) => child.once('exit', resolve)))).toBe(NOT_AS_EXPECTED);
});
