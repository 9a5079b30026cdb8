import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { openLockLab, readLockCode } from '../../simulation/lock-lab.ts';
import { FIRST_PORT } from '../../simulation/sockets.ts';
import { openLink } from '../../stack/proxy/link.ts';
import { listen } from '../listen.ts';
import { sharedRedis } from '../own-stack.ts';
import { blocked, type Stage, scenes } from './socket-scenes.ts';
import type * as alone from './sockets-alone.ts';

/** A scene that comes to no end by then never does, in milliseconds of the simulated clock. */
const LIMIT_MS = 60_000;
const facts = { backend: 'redis', isExternal: true } as never;
const code = readLockCode({
  name: 'scenes',
  file: fileURLToPath(new URL('socket-scenes.ts', import.meta.url)),
  facts,
});

async function playedReally(scene: string) {
  const said: string[] = [];
  const redis = await sharedRedis();
  // Those of the scene before.
  await blocked(redis.client, 0);
  const link = await openLink(redis.url);
  onTestFinished(link.close);
  const nobody = createServer();
  const closedPort = await listen(nobody);
  nobody.close();
  await once(nobody, 'close');
  const reset = () => {
    link.cut('reset');
    link.restore();
  };
  await scenes[scene]?.({ port: link.port, closedPort, reset }, (what) => said.push(what));
  return said;
}

async function playedSimulated(scene: string) {
  const said: string[] = [];
  const lab = await openLockLab(0);
  onTestFinished(lab.close);
  const { exports, node, proxies } = lab.start(await code);
  const [proxy] = proxies;
  const reset = () => {
    proxy?.cut('reset');
    proxy?.restore();
  };
  const stage: Stage = { port: FIRST_PORT, closedPort: FIRST_PORT + 1, reset };
  let isOver = false;
  node.take(() => {
    const played = (exports as unknown as { scenes: typeof scenes }).scenes[scene]?.(stage, (what) => said.push(what));
    played?.finally(() => {
      isOver = true;
    });
  });
  await lab.schedule.until(() => isOver, LIMIT_MS);
  return isOver ? said : [...said, 'and it comes to no end'];
}

test.each(Object.keys(scenes))('sockets: as on real ones: %s', async (scene) => {
  expect(await playedSimulated(scene)).toEqual(await playedReally(scene));
});

test.each([
  ['a socket of the file system', { path: '/tmp/redis.sock' }],
  ['a socket that sends anything but arrays of bulk strings', { port: FIRST_PORT }],
])('sockets: %s is noted', async (what, where) => {
  const lab = await openLockLab(0);
  onTestFinished(lab.close);
  const file = fileURLToPath(new URL('sockets-alone.ts', import.meta.url));
  const { exports, node } = lab.start(await readLockCode({ name: 'alone', file, facts }));
  const { createConnection } = exports as unknown as typeof alone;
  node.take(() => {
    try {
      createConnection(where)
        .on('error', () => {})
        .write('PING\r\n');
    } catch {}
  });
  await lab.schedule.pass(10);

  expect(lab.refusal()).toBe(what);
});
