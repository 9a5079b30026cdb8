import { beforeAll, beforeEach, expect, test } from 'vitest';
import { type Link, openLink } from '../../../scripts/link/link.ts';
import { cleanUpLater } from '../../clean-up.ts';
import { type SharedRedis, sharedRedis } from '../../stack.ts';
import { expectProblem, startNode, type TestNode } from './node-under-test.ts';

const env = { LOCK_VERSION: 'buckets' };
let redis: SharedRedis;
let node: TestNode;
let other: TestNode;
/** `far` reaches Redis by it. */
let link: Link;
let far: TestNode;

const stockKey = (sku: string, bucket: number) => `{inventory${sku}}:stock${bucket === 0 ? '' : `:${bucket}`}`;
const unitsOf = (sku: string, buckets = 4) =>
  redis.client.mget(Array.from({ length: buckets }, (_, bucket) => stockKey(sku, bucket)));
const fill = (sku: string, ...units: number[]) =>
  redis.client.mset(...units.flatMap((stock, bucket) => [stockKey(sku, bucket), stock]));
const remainingOf = async (sku: string) => (await node.get(`/inventory?sku=${sku}`)).body;
const eventsOf = async (of: TestNode) =>
  (await of.events()).map(({ type, stock, bucket }) =>
    [type, bucket, stock].filter((part) => part !== undefined).join(' '),
  );

beforeAll(async () => {
  redis = await sharedRedis();
  link = await openLink(redis.url);
  cleanUpLater(link.close);
  [node, other, far] = await Promise.all([
    startNode(redis.url, env),
    startNode(redis.url, env),
    startNode(link.url, env),
  ]);
});

beforeEach(async () => {
  await far.lab('PUT', '/lock-version', { version: 'buckets' });
  await far.lab('DELETE', '/history');
});

test('the stock: it is spread, summed, and deleted with all that belongs to it', async () => {
  await node.lab('PUT', '/stock', { sku: 'spread', stock: 1_002 });
  expect(await unitsOf('spread')).toEqual(['251', '251', '250', '250']);
  expect(await remainingOf('spread')).toEqual({ sku: 'spread', remaining: 1_002 });

  for (let sale = 0; sale < 20; sale += 1) await node.sell('spread');

  expect(await remainingOf('spread')).toEqual({ sku: 'spread', remaining: 982 });
  await node.lab('DELETE', '/stock?sku=spread');
  expect(await redis.client.keys('{inventoryspread}*')).toEqual([]);
  expectProblem(await node.sell('spread'), 'NOT_FOUND');
});

test('BUCKETS: so many, and the answer says which', async () => {
  const two = await startNode(redis.url, { ...env, BUCKETS: '2' });
  await two.lab('PUT', '/stock', { sku: 'two', stock: 1_000 });
  expect(await unitsOf('two', 3)).toEqual(['500', '500', null]);
  await redis.client.set(stockKey('two', 0), 0);

  const { body } = await two.sell('two');

  expect(body).toMatchObject({ outcome: 'sold', stockBefore: 500, remaining: 499, bucket: 1 });
  expect(await eventsOf(two)).toEqual(['waiting', 'entered 1', 'read 1 500', 'wrote 1 499', 'left 1']);
});

test('sold out is found out by one command, which reads all buckets', async () => {
  await fill('none', 0, 0, 0, 0);
  const sent: string[] = [];
  link.watch(({ name, args }) => {
    if (args.some((arg) => arg.startsWith('{inventorynone}'))) sent.push([name, ...args].join(' '));
  });

  expectProblem(await far.sell('none'), 'OUT_OF_STOCK');

  expect(sent).toEqual([`MGET ${[0, 1, 2, 3].map((bucket) => stockKey('none', bucket)).join(' ')}`]);
  expect((await far.state()).counts).toMatchObject({ soldOut: 1 });
});

test('two nodes sell the last units of all buckets, each once, and nobody is refused before', async () => {
  await fill('last', 5, 5, 5, 5);

  const answers = await Promise.all(Array.from({ length: 30 }, (_, sale) => (sale % 2 ? node : other).sell('last')));

  const sold = answers
    .filter(({ body }) => body.outcome === 'sold')
    .map(({ body }) => `${body.bucket} ${body.remaining}`);
  expect(new Set(sold).size).toBe(20);
  expect(answers.filter(({ body }) => body.code === 'OUT_OF_STOCK')).toHaveLength(10);
  expect(await unitsOf('last')).toEqual(['0', '0', '0', '0']);
});
