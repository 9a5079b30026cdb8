import { beforeAll, describe, expect, test } from 'vitest';
import { commandsOfLocks } from '../../../locks/index.ts';
import { makeTempDir } from '../../../scripts/stack/parts.ts';
import { lackOfRedis, openEmbedded } from '../../../scripts/stack/redis.ts';
import { connectStore, USUAL_BUCKETS } from '../../../services/inventory/store.ts';
import { cleanUpLater } from '../../clean-up.ts';
import { lackOfDeleting, lacksDeleting } from '../../lacks-deleting.ts';
import { type SharedRedis, sharedRedis } from '../../stack.ts';
import { expectProblem, startLink, startNode, type TestNode, until } from './node-under-test.ts';

const lock = 'delete-if-equal';
const underIt = { LOCK_VERSION: lock };

/** Whatever is installed, and the embedded Valkey, which has the command. */
let installed: SharedRedis;
let isLacking: boolean;
let embedded: string;
/** It reaches what is installed, and these the embedded Valkey. */
let lacking: TestNode;
let able: TestNode[];

beforeAll(async () => {
  const temp = makeTempDir();
  cleanUpLater(temp.remove);
  installed = await sharedRedis();
  isLacking = await lacksDeleting(installed.url);
  const { url, part } = await openEmbedded(temp.dir);
  cleanUpLater(async () => part?.stop());
  embedded = url;
  expect(await lacksDeleting(embedded)).toBe(false);
  lacking = await startNode(installed.url, underIt);
  able = await Promise.all([startNode(embedded, underIt), startNode(embedded, underIt)]);
});

describe('redis-commands: a Redis that lacks the commands of a lock', () => {
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

  test('the lab listener says which lock it can’t carry, and why; the embedded Valkey carries all', async ({
    skip,
  }) => {
    skip(!isLacking);
    const lacksOf = async (node?: TestNode) => (await node?.lab('GET', '/redis'))?.body['lacks'];

    expect(await lacksOf(lacking)).toEqual({ [lock]: expect.stringMatching(lackOfDeleting) });
    expect(await lacksOf(able[0])).toEqual({});
  });

  test('a user who may not ask is told so, and every other lock is carried', async () => {
    await installed.client.call('ACL', 'SETUSER', 'shy', 'on', '>secret', '~*', '&*', '+@all', '-command');
    const store = connectStore(installed.url.replace('//', '//shy:secret@'), USUAL_BUCKETS, commandsOfLocks);
    await store.back();

    await expect(store.mustCarry(lock)).rejects.toMatchObject({
      code: 'COMMAND_MISSING',
      message: expect.stringMatching(/may not be asked whether it has DELIFEQ or DELEX, .*: allow COMMAND INFO\.$/),
    });
    await store.mustCarry('8-auto-renew');
    expect(Object.keys(await store.lacks())).toEqual([lock]);
    store.redis.disconnect();
    await installed.client.call('ACL', 'DELUSER', 'shy');
  });

  test('of a lock that any Redis can carry it is not asked', async () => {
    const node = await startNode(installed.url, { LOCK_VERSION: '8' });
    await installed.client.set('{inventoryany}:stock', 10);
    await installed.client.config('RESETSTAT');

    expect((await node.sell('any')).body).toMatchObject({ outcome: 'sold' });

    expect(await installed.client.info('commandstats')).not.toContain('cmdstat_command');
    expect(await lackOfRedis(installed.url, '8-auto-renew')).toBeUndefined();
  });
});

describe('redis-commands: a Redis that has one of them', () => {
  test('two nodes sell under the lock, and lose nothing', async () => {
    await able[0]?.lab('PUT', '/stock', { sku: 'both', stock: 100 });

    const answers = await Promise.all(able.flatMap((node) => Array.from({ length: 3 }, () => node.sell('both'))));

    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect((await able[0]?.get('/inventory?sku=both'))?.body).toMatchObject({ remaining: 94 });
    expect(await lackOfRedis(embedded, lock)).toBeUndefined();
  });

  test('it is asked once for a connection', async () => {
    const store = connectStore(embedded, USUAL_BUCKETS, commandsOfLocks);
    const { redis } = store;
    await store.back();
    await redis.config('RESETSTAT');

    for (let sale = 0; sale < 3; sale += 1) await store.mustCarry(lock);

    expect(await redis.info('commandstats')).toMatch(/cmdstat_command\|info:calls=1,/);
    redis.disconnect();
  });

  test('when another server takes its place, the node asks again', async ({ skip }) => {
    skip(!isLacking);
    const link = await startLink(embedded);
    const node = await startNode(link.url, underIt);
    await node.lab('PUT', '/stock', { sku: 'moved', stock: 10 });
    await installed.client.set('{inventorymoved}:stock', 10);
    const sell = async () => (await node.sell('moved')).body;
    expect(await sell()).toMatchObject({ outcome: 'sold' });

    link.moveTo(installed.url);
    await until('the other server is asked', async () => (await sell())['code'] === 'COMMAND_MISSING');
    link.moveTo(embedded);

    await until('it is asked again', async () => (await sell())['outcome'] === 'sold');
    expect(await installed.client.get('{inventorymoved}:stock')).toBe('10');
  });
});
