import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createSaleScripts } from '../../../services/inventory/sale-script.ts';
import { type SharedRedis, sharedRedis } from '../../stack.ts';
import { startHeldSale, startNode, type TestNode, until } from './node-under-test.ts';

let redis: SharedRedis;
let node: TestNode;

beforeAll(async () => {
  redis = await sharedRedis();
  node = await startNode(redis.url);
});

const put = (path: string, body: object = {}) => node.lab('PUT', path, body);
const countOf = async (type: string) => (await node.events()).filter((event) => event.type === type).length;
const isHeld = (sales = 1) => until('it is held', async () => (await node.state()).held === sales);

beforeEach(async () => {
  await node.lab('DELETE', '/history');
  await put('/lock-version', { version: '6' });
  await put('/stock', { stock: 100 });
});

describe('lab: a scripted sale', () => {
  test('times: so many sales are held inside until they are resumed, and the one after is ordinary', async () => {
    // Nobody is held yet, so this resumes nobody.
    await put('/resume');
    for (const sku of ['002', '003']) await put('/stock', { sku, stock: 100 });
    await put('/next-sale', { untilResumed: true, times: 2 });
    const scripted = [node.sell('001'), node.sell('002')];
    await isHeld(2);
    expect([await countOf('read'), await countOf('wrote')]).toEqual([2, 0]);
    expect((await node.sell('003')).status).toBe(200);
    expect(await node.state()).toMatchObject({ inFlight: 2, held: 2 });

    expect((await put('/resume')).status).toBe(204);

    expect((await Promise.all(scripted)).map(({ status }) => status)).toEqual([200, 200]);
    expect(await node.state()).toMatchObject({ inFlight: 0, held: 0 });
  });

  test('blockMs: nothing else runs in the process meanwhile, as during a computation', async () => {
    const scripts = createSaleScripts();
    scripts.set({ blockMs: 1 });
    let hasAnotherTurn = false;
    setImmediate(() => {
      hasAnotherTurn = true;
    });

    await scripts.forSale().inside();

    expect(hasAnotherTurn).toBe(false);
  });
});

describe('lab: the timing of a lock', () => {
  test('it is set with the lock, and the next change of the lock takes it back', async () => {
    await put('/lock-version', { version: '4', leaseMs: 5_000 });
    const { answer, resume } = await startHeldSale(node, '001');
    const lease = await redis.client.pttl('{inventory001}:lock:4-ttl');
    await resume();
    await answer;

    expect(lease).toBeLessThanOrEqual(5_000);
    expect((await put('/lock-version', { version: '4' })).status).toBe(200);
    expect(await node.state()).toMatchObject({ leaseMs: 600_000 });
  });
});
