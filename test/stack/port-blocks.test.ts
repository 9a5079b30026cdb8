import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { bundledArgs } from '../../stack/bundle.ts';

test('free port: a block that a process has taken is not free, even to one that looks there first', async () => {
  const module = (await bundledArgs('stack/ports.ts')).at(-1);
  // Both begin at the first block.
  const script = `import { freePort } from '${module}';
    Math.random = () => 0;
    console.log(await freePort());
    process.stdin.resume();`;

  /** Resolves with the block of a process that holds it as long as its input is open. */
  async function blockOfNext() {
    const child = spawn(process.execPath, ['--input-type=module', '-e', script]);
    const ended = once(child, 'exit');
    onTestFinished(async () => {
      child.stdin.end();
      await ended;
    });
    const [port] = await once(child.stdout, 'data');
    return Math.floor(Number(String(port)) / 200);
  }

  const first = await blockOfNext();
  expect(await blockOfNext()).not.toBe(first);
});
