import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createSaleScripts } from '../../../services/inventory/sale-script.ts';
import { type SharedRedis, sharedRedis } from '../../stack.ts';
import { ask, expectProblem, startNode, type TestNode, until } from './node-under-test.ts';

let redis: SharedRedis;
let node: TestNode;

beforeAll(async () => {
  redis = await sharedRedis();
  node = await startNode(redis.url);
});

const put = (path: string, body: object = {}) =>
  ask(`http://127.0.0.1:${node.labPort}${path}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

async function eventsOf(type: string): Promise<{ at: number; saleId: string }[]> {
  const { events } = (await (await fetch(`http://127.0.0.1:${node.labPort}/history`)).json()) as {
    events: { type: string; at: number; saleId: string }[];
  };
  return events.filter((event) => event.type === type);
}

beforeEach(async () => {
  await ask(`http://127.0.0.1:${node.labPort}/history`, { method: 'DELETE' });
  await put('/lock-version', { version: '6' });
  await put('/stock', { stock: 100 });
});

describe('lab: a scripted sale', () => {
  test('until resumed: it is held inside, and sells when it is resumed', async () => {
    // Nobody is held yet, so this resumes nobody.
    await put('/resume');
    await put('/next-sale', { untilResumed: true });
    const sale = node.sell('001');
    await until('the sale has read', async () => (await eventsOf('read')).length === 1);
    expect(await eventsOf('wrote')).toEqual([]);
    expect(await node.state()).toMatchObject({ inFlight: 1, held: 1 });

    expect((await put('/resume')).status).toBe(204);

    expect((await sale).status).toBe(200);
    expect(await node.state()).toMatchObject({ inFlight: 0, held: 0 });
  });

  test('times: so many sales follow the script, and the one after is ordinary', async () => {
    for (const sku of ['002', '003']) await put('/stock', { sku, stock: 100 });
    await put('/next-sale', { untilResumed: true, times: 2 });
    const scripted = [node.sell('001'), node.sell('002')];
    await until('both are held', async () => (await node.state()).held === 2);
    expect((await node.sell('003')).status).toBe(200);
    expect(await node.state()).toMatchObject({ inFlight: 2, held: 2 });
    await put('/resume');
    expect((await Promise.all(scripted)).map(({ status }) => status)).toEqual([200, 200]);
  });

  test('the nested call comes before the pause, so that the outer lock can be tried meanwhile', async () => {
    await put('/lock-version', { version: '7' });
    await put('/next-sale', { nestedCall: true, untilResumed: true });
    const sale = node.sell('001');
    await until('the sale has read', async () => (await eventsOf('read')).length === 1);
    // The outer lock counts 1 before the nested call, too.
    await until('the nested call has ended, and the sale is held', async () => (await node.state()).held === 1);
    expect(await eventsOf('nested')).toHaveLength(1);
    expect(await redis.client.hvals('{inventory001}:lock:7-reentrant')).toEqual(['1']);
    await put('/resume');
    expect((await sale).status).toBe(200);
  });

  test('before the nested call: it is held, then asks by another lock object of the same request', async () => {
    await put('/lock-version', { version: '7' });
    await put('/next-sale', { beforeNestedCall: true, nestedCall: 'another object' });
    const sale = node.sell('001');
    await until('the sale has read', async () => (await eventsOf('read')).length === 1);
    expect(await eventsOf('nested')).toEqual([]);
    await put('/resume');
    expect((await sale).status).toBe(200);
    expect(await eventsOf('nested')).toHaveLength(1);
  });

  test('another object has a lock of its own: a stage that counts nothing waits for itself', async () => {
    await put('/lock-version', { version: '6', waitTimeoutMs: 100 });
    await put('/next-sale', { nestedCall: 'another object' });
    expectProblem(await node.sell('001'), 'LOCK_WAIT_TIMEOUT');
  });

  test('blockMs: nothing else runs in the process meanwhile, as during a computation', async () => {
    const scripts = createSaleScripts();
    scripts.set({ blockMs: 1 });
    let hasAnotherTurn = false;
    setImmediate(() => {
      hasAnotherTurn = true;
    });

    await scripts.forSale(async () => {}).inside();

    expect(hasAnotherTurn).toBe(false);
  });

  test('a bad script is refused and leaves the last one', async () => {
    for (const body of [{ times: 0 }, { blockMs: 60_001 }, { untilResumed: 'yes' }, { pauseMs: -1 }, { surprise: 1 }]) {
      expectProblem(await put('/next-sale', body), 'BAD_REQUEST');
    }
  });
});

describe('lab: the timing of a lock', () => {
  test('it is set with the lock, and the next change of the lock takes it back', async () => {
    const ttl = () => redis.client.pttl('{inventory001}:lock:4-ttl');
    const leaseOf = async (body: object) => {
      await put('/lock-version', body);
      await put('/next-sale', { untilResumed: true });
      const reads = (await eventsOf('read')).length;
      const sale = node.sell('001');
      await until('the sale is inside', async () => (await eventsOf('read')).length > reads);
      const lease = await ttl();
      await put('/resume');
      await sale;
      return lease;
    };

    const short = await leaseOf({ version: '4', leaseMs: 5_000 });
    expect(short).toBeLessThanOrEqual(5_000);
    expect(await leaseOf({ version: '4' })).toBeGreaterThan(5_000);
  });

  test('a lease that is too short is refused, and the lock stays as it was', async () => {
    expectProblem(await put('/lock-version', { version: '4', leaseMs: 1 }), 'BAD_REQUEST');
    expect(await node.state()).toMatchObject({ lock: '6-lua-release' });
  });
});
