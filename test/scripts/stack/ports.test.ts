import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { bundledArgs } from '../../../scripts/stack/bundle.ts';
import { freePort, isFree } from '../../../scripts/stack/ports.ts';

test('free port: one that was handed out does not come again until 198 others have', async () => {
  const ports = [];
  for (let count = 0; count < 199; count += 1) ports.push(await freePort());

  expect(new Set(ports).size).toBeGreaterThanOrEqual(190);
  expect(Math.max(...ports)).toBeLessThan(32_000);
});

test('free port: a taken one is not handed out', async () => {
  let last = await freePort();
  // The port after the last one of a block is the block's first, so the last two are no start for this test.
  while (last % 200 >= 198) last = await freePort();
  const port = last + 1;
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(port, '127.0.0.1', resolve));

  const found = [await isFree(port), await freePort()];

  other.close();
  expect(found).toEqual([false, port + 1]);
});

test('free port: no two processes hand out the same one', async () => {
  const module = (await bundledArgs('scripts/stack/ports.ts')).at(-1);
  const script = `import { freePort } from '${module}'; console.log(await freePort()); process.stdin.resume();`;
  // Each holds its block as long as its input is open.
  const children = [1, 2].map(() => spawn(process.execPath, ['--input-type=module', '-e', script]));
  const theirs = await Promise.all(children.map(async ({ stdout }) => Number(String((await once(stdout, 'data'))[0]))));
  for (const { stdin } of children) stdin.end();

  const blocks = [...theirs, await freePort()].map((port) => Math.floor(port / 200));
  expect(new Set(blocks).size).toBe(3);
});
