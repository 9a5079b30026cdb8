import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Stack, startStack } from '../../../scripts/stack/stack.ts';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({ env: { LOG_LEVEL: 'silent', LOCK_VERSION: '6' } });
});

afterAll(() => stack.stop());

const isAlive = async (url: string) => (await fetch(`${url}/healthz`).catch(() => undefined))?.ok === true;
const pidOf = async (labUrl: string) => ((await (await fetch(`${labUrl}/state`)).json()) as { pid: number }).pid;

test('a node is killed and started again on its ports, and the stack does not call it dead', async () => {
  const [node] = stack.nodes;
  if (node === undefined) throw new Error('There is no node.');
  const firstPid = await pidOf(node.labUrl);

  await node.kill();
  expect(await isAlive(node.url)).toBe(false);
  await node.start();

  expect(await pidOf(node.labUrl)).not.toBe(firstPid);
  expect(await Promise.race([stack.partDied, Promise.resolve('nobody died')])).toBe('nobody died');
});
