import { createServer } from 'node:net';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openMysql } from '../../../../scripts/stack/mysql.ts';
import { makeTempDir } from '../../../../scripts/stack/parts.ts';
import { openRedis, openReplica } from '../../../../scripts/stack/redis.ts';
import { type Stack, startStack } from '../../../../scripts/stack/stack.ts';
import { openZookeeper } from '../../../../scripts/stack/zookeeper.ts';

/** What the next looks for a free port find, in order: a port that another program takes at once. Undefined: a free one. */
const { firstChoices } = vi.hoisted(() => ({ firstChoices: [] as (number | undefined)[] }));

vi.mock('../../../../scripts/stack/ports.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('../../../../scripts/stack/ports.ts')>();
  return { ...original, freePort: async () => firstChoices.shift() ?? original.freePort() };
});

const portOf = (url: string) => Number(new URL(url).port);

// The port of each part is held by another part of its kind, which answers the questions that the new one is asked.
describe('a port that is taken between the look and the listen: the part starts on another one', () => {
  function ownDir() {
    const temp = makeTempDir();
    onTestFinished(temp.remove);
    return temp;
  }

  async function openTwo<Server extends { url: string; part?: { pid: number; stop(): Promise<void> } }>(
    open: (options: { dir: string }) => Promise<Server>,
    port: (url: string) => number = portOf,
  ) {
    const first = await open(ownDir());
    onTestFinished(() => first.part?.stop());
    firstChoices.push(port(first.url));
    const second = await open(ownDir());
    onTestFinished(() => second.part?.stop());
    expect(firstChoices).toEqual([]);
    expect(port(second.url)).not.toBe(port(first.url));
    return { first, second };
  }

  test('redis-server', async () => {
    const { second } = await openTwo((options) => openRedis(undefined, options));
    expect(second.kind).toBe('native');
  });

  test('the embedded Valkey', async () => {
    vi.stubEnv('PATH', '');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { second } = await openTwo((options) => openRedis(undefined, options));
    expect(second.kind).toBe('embedded');
  });

  test('a replica', async () => {
    const primary = await openRedis(undefined, ownDir());
    onTestFinished(() => primary.part?.stop());
    firstChoices.push(portOf(primary.url));
    const replica = await openReplica(primary.url, ownDir().dir);
    onTestFinished(() => replica.part?.stop());
    const client = new Redis(replica.url);
    onTestFinished(() => client.disconnect());
    expect(await client.info('replication')).toContain('role:slave');
  });

  test('MariaDB or MySQL', async () => {
    const { second } = await openTwo((options) => openMysql(undefined, options));
    expect(await second.database('shop')).toBe(`${second.url}/shop`);
  });

  test('ZooKeeper', async () => {
    await openTwo(
      (options) => openZookeeper(undefined, options),
      (url) => Number(url.split(':')[1]),
    );
  });
});

describe('a stack whose first choices another stack takes', () => {
  let other: Stack;

  beforeAll(async () => {
    other = await startStack({ env: { LOG_LEVEL: 'silent' }, masters: 3 });
  });

  afterAll(() => other.stop());

  test('it starts on other ports, and each part is its own: redis, a master, the nodes, a lab listener, nginx', async () => {
    const [node1, node2] = other.nodes;
    const first = (url: string | undefined) => [portOf(url ?? ''), undefined];
    firstChoices.push(...first(other.redis.url));
    // The masters start at the same time.
    firstChoices.push(portOf(other.masters[0]?.url ?? ''), undefined, undefined, undefined);
    // Both nodes look for their first port, then for that of the lab listener; then each looks for two others.
    firstChoices.push(portOf(node1?.url ?? ''), undefined, undefined, portOf(node2?.labUrl ?? ''));
    firstChoices.push(undefined, undefined, undefined, undefined, ...first(other.nginx.url));

    const stack = await startStack({ env: { LOG_LEVEL: 'silent' }, masters: 3 });
    onTestFinished(() => stack.stop());

    expect(firstChoices).toEqual([]);
    const urls = ({ redis, masters, nodes, nginx }: Stack) =>
      [redis, ...masters, nginx, ...nodes].map(({ url }) => url).concat(nodes.map(({ labUrl }) => labUrl));
    expect(new Set([...urls(other), ...urls(stack)]).size).toBe(18);
    expect(await sellTwo(stack)).toEqual(['node-1', 'node-2', 3]);
    expect(await sellTwo(other)).toEqual(['node-1', 'node-2', 3]);
  });

  test('kill and start again: a node stays on its ports, and a port taken meanwhile is a plain error', async () => {
    const [node] = other.nodes;
    await node?.kill();
    const port = portOf(node?.url ?? '');
    const taker = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => taker.listen(port, '127.0.0.1', resolve));

    await expect(node?.start()).rejects.toThrow(`node-1 could not be started: another program has taken port ${port}`);
    await new Promise((resolve) => taker.close(resolve));
    await node?.start();
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).ok).toBe(true);
  });
});

/** Puts five units in stock and sells two. Resolves with the nodes that sold, and what remains. */
async function sellTwo({ nodes, nginx }: Stack) {
  const headers = { 'content-type': 'application/json' };
  await fetch(`${nodes[0]?.labUrl}/stock`, { method: 'PUT', headers, body: '{"stock":5}' });
  const sell = async () => (await fetch(`${nginx.url}/inventory/sale`, { method: 'POST' })).json();
  const [first, second] = [await sell(), await sell()];
  return [...[first.node, second.node].sort(), second.remaining];
}
