import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { askDown, claimControl } from '../../stack/control.ts';
import { makeTempDir, projectDir } from '../../stack/parts.ts';

/** The folder that a checkout would have in its TMPDIR. */
function ownDir() {
  const temp = makeTempDir();
  onTestFinished(temp.remove);
  return { dir: join(temp.dir, 'up'), left: () => readdirSync(temp.dir) };
}

/** Leaves in `dir` the socket of a stack that was killed: there, and nobody listens. */
async function leaveSocket(dir: string, name: string) {
  mkdirSync(dir, { recursive: true });
  const server = createServer();
  await once(server.listen(join(dir, 'listening')), 'listening');
  renameSync(join(dir, 'listening'), join(dir, name));
  await once(server.close(), 'close');
}

test.each([
  { left: 'nothing', before: [] },
  { left: 'the socket of one that was killed', before: ['killed.sock'] },
  { left: 'the sockets of two', before: ['killed.sock', 'control.sock'] },
])('control: of many claims at once where $left was left, one is up, and can be asked to end', async ({ before }) => {
  const { dir, left } = ownDir();
  for (const name of before) await leaveSocket(dir, name);

  const claims = await Promise.all(Array.from({ length: 8 }, () => claimControl(dir)));

  const [up, ...others] = claims.filter((claim) => claim !== undefined);
  expect([up === undefined, others]).toEqual([false, []]);
  expect(await claimControl(dir)).toBeUndefined();
  const [name = '', ...more] = readdirSync(dir);
  expect([left(), more]).toEqual([['up'], []]);
  const down = connect(join(dir, name), () => down.write('down'));
  expect(await up?.downAsked).toBe('Stopping: npm run down asked for it.');
  down.destroy();
  await up?.release();
  expect(left()).toEqual([]);
});

test('control: the reaper of a killed stack takes nothing from the one that has come after it', async () => {
  const { dir } = ownDir();
  await leaveSocket(dir, 'killed.sock');
  const second = await claimControl(dir);
  const reaper = spawn(process.execPath, [join(projectDir, 'stack/reaper.mjs')]);
  reaper.stdin.end(`+dir ${dir}-killed\n+socket ${join(dir, 'killed.sock')}\n`);
  await once(reaper, 'exit');

  expect(await claimControl(dir)).toBeUndefined();
  await second?.release();
  expect(existsSync(dir)).toBe(false);
});

test('down: a socket that nobody answers is no stack', async () => {
  const { dir } = ownDir();
  await leaveSocket(dir, 'killed.sock');

  expect(await askDown(dir)).toBe(false);
});
