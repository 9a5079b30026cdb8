import { beforeAll, expect, test } from 'vitest';
import { makeTempDir } from '../../../../stack/parts.ts';
import { lackOfRedis, startRedis } from '../../../../stack/redis.ts';
import { cleanUpLater } from '../../../clean-up.ts';
import { lackOfDeleting, lacksDeleting } from '../../../lacks-deleting.ts';
import { type SharedRedis, sharedRedis } from '../../../own-stack.ts';
import { expectProblem, startNode, type TestNode } from '../node-under-test.ts';

const lock = 'delete-if-equal';
const underIt = { LOCK_VERSION: lock };

/** Whatever is installed, and the embedded Valkey, which has the command. */
let installed: SharedRedis;
let isLacking: boolean;
let embedded: string;
/** It reaches what is installed, and the other the embedded Valkey. */
let lacking: TestNode;
let able: TestNode;

beforeAll(async () => {
  const temp = makeTempDir();
  cleanUpLater(temp.remove);
  installed = await sharedRedis();
  isLacking = await lacksDeleting(installed.url);
  const { url, part } = await startRedis(undefined, temp);
  cleanUpLater(async () => part?.stop());
  embedded = url;
  expect(await lacksDeleting(embedded)).toBe(false);
  lacking = await startNode(installed.url, underIt);
  able = await startNode(embedded, underIt);
});

test('a sale is refused, definite, with what to do, and neither the stock nor the lock is touched', async ({
  skip,
}) => {
  skip(!isLacking);
  await installed.client.set('{inventorylacking}:stock', 10);

  const refused = await lacking.sell('lacking');

  expectProblem(refused, 'COMMAND_MISSING', { definite: true });
  expect(refused.status).toBe(503);
  expect(refused.body['detail']).toMatch(lackOfDeleting);
  expect(await installed.client.get('{inventorylacking}:stock')).toBe('10');
  expect(await installed.client.keys(`*lock:${lock}*`)).toEqual([]);
  expect((await lacking.state()).counts).toMatchObject({ received: 1, failed: 1, inDoubt: 0 });
  expect((await lacking.events()).map(({ type }) => type)).toEqual(['waiting', 'failed']);
});

test('the lab listener says which lock it can’t carry, and why; the embedded Valkey carries all', async ({ skip }) => {
  skip(!isLacking);
  const lacksOf = async (node: TestNode) => (await node.lab('GET', '/redis')).body['lacks'];

  expect(await lacksOf(lacking)).toEqual({ [lock]: expect.stringMatching(lackOfDeleting) });
  expect(await lacksOf(able)).toEqual({});
  expect(await lackOfRedis(embedded, lock)).toBeUndefined();
});
