// Without Docker: what compose and the Dockerfile say is run on this machine.

import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { stockKey } from '../../../services/inventory/servers/store.ts';
import { makeTempDir, projectDir, startPart } from '../../../stack/parts.ts';
import { freePort } from '../../../stack/ports.ts';
import { cleanUpLater } from '../../clean-up.ts';
import { environmentOf, serviceNamed } from '../../compose/compose-file.ts';
import { copiedInto, lastOf } from '../../compose/dockerfile.ts';
import { startRedis } from '../../services/inventory/node-under-test.ts';

const temp = makeTempDir();
cleanUpLater(temp.remove);

/** Runs the health check of node-1 against a node on `port`. */
async function isHealthy(port: number): Promise<boolean> {
  const [, , ...args] = serviceNamed('node-1').healthcheck?.test ?? [];
  return spawnSync(process.execPath, args, { env: { PORT: String(port) } }).status === 0;
}

/** Starts node-1 as compose would: with the files and the command of its image, and the environment of its container. */
async function startNode(redisUrl: string, isReady: (port: number) => Promise<boolean>) {
  const image = mkdtempSync(join(temp.dir, 'inventory-'));
  for (const path of copiedInto('inventory')) cpSync(join(projectDir, path), join(image, path), { recursive: true });
  symlinkSync(join(projectDir, 'node_modules'), join(image, 'node_modules'));
  const [port, labPort] = [await freePort(), await freePort()];
  const [, ...args] = JSON.parse(lastOf('inventory', 'CMD'));
  const part = await startPart({
    name: 'node-1',
    command: 'sh',
    args: ['-c', 'cd "$0" && exec "$@"', image, process.execPath, ...args],
    env: {
      ...environmentOf('node-1', { LOCK_VERSION: '6' }),
      ...{ PATH: process.env.PATH, HOST: '127.0.0.1', LAB_HOST: '127.0.0.1', REDIS_URL: redisUrl },
      ...{ PORT: String(port), LAB_PORT: String(labPort) },
    },
    isReady: () => isReady(port),
  });
  onTestFinished(part.stop);
  return { part, port, url: `http://127.0.0.1:${port}` };
}

test('node: with the files of the image it gets healthy, sells, and ends with 0 on SIGTERM', async () => {
  const redis = await startRedis();
  await redis.client.set(stockKey('001'), 10);
  const node = await startNode(redis.url, isHealthy);
  const sale = await fetch(`${node.url}/inventory/sale`);
  await node.part.stop();

  expect(await sale.json()).toMatchObject({ outcome: 'sold', remaining: 9, node: 'node-1', lock: '6-lua-release' });
  expect((await node.part.ended).split('\n')[0]).toBe('node-1 ended with exit code 0');
});

test('health check: it fails while Redis is away, although the node is alive', async () => {
  const isAlive = async (port: number) => (await fetch(`http://127.0.0.1:${port}/healthz`)).ok;
  const alone = await startNode(`redis://127.0.0.1:${await freePort()}`, isAlive);

  expect(await isHealthy(alone.port)).toBe(false);
  expect((await fetch(`${alone.url}/readyz`)).status).toBe(503);
});

test('seed: there are 5,000 in stock afterwards, and stock that is there stays', async () => {
  const { client } = await startRedis();
  const { command = [] } = serviceNamed('seed');
  const [verb = '', ...args] = command.slice(4);
  await client.call(verb, ...args);
  const first = await client.get(stockKey('001'));
  await client.set(stockKey('001'), 17);
  await client.call(verb, ...args);

  expect(command.slice(0, 4)).toEqual(['redis-cli', '-h', 'redis', '-e']);
  expect([first, await client.get(stockKey('001'))]).toEqual(['5000', '17']);
});
