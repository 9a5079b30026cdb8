import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { freePort, isFree } from '../../stack/ports.ts';

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

  const found = [await isFree({ port }), await freePort()];

  other.close();
  expect(found).toEqual([false, port + 1]);
});

// Other systems have one address of their own, or let two programs share a port.
test.skipIf(process.platform !== 'linux')('free port: it is looked for where the program is to listen', async () => {
  const port = await freePort();
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(port, '127.0.0.2', resolve));
  onTestFinished(() => void other.close());
  const isFreeOn = (host?: string) => isFree({ host, port });

  expect([await isFreeOn('127.0.0.2'), await isFreeOn('0.0.0.0')]).toEqual([false, false]);
  expect([await isFreeOn(), await isFreeOn('127.0.0.3')]).toEqual([true, true]);
  // No machine has this address.
  expect(await isFreeOn('192.0.2.1')).toBe(true);
});
