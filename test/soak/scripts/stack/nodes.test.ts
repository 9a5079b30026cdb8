import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Stack, startStack } from '../../../../scripts/stack/stack.ts';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({ env: { LOG_LEVEL: 'silent', LOCK_VERSION: '6' } });
});

afterAll(() => stack.stop());

const isAlive = async (url: string) => (await fetch(`${url}/healthz`).catch(() => undefined))?.ok === true;

test('a paused node does not answer, and does when it goes on', async () => {
  const [, node] = stack.nodes;
  if (node === undefined) throw new Error('There is no node.');
  node.signal('SIGSTOP');
  await expect(fetch(`${node.url}/healthz`, { signal: AbortSignal.timeout(300) })).rejects.toThrow('timeout');
  node.signal('SIGCONT');
  expect(await isAlive(node.url)).toBe(true);
});

test('the end of one stack leaves another one running', async () => {
  const other = await startStack({ env: { LOG_LEVEL: 'silent' }, forDrills: true });
  await other.stop();
  // What the first stack would lose is killed within this time.
  await sleep(300);
  for (const { url } of stack.nodes) expect(await isAlive(url)).toBe(true);
  expect(await Promise.race([stack.partDied, Promise.resolve('nobody died')])).toBe('nobody died');
});
