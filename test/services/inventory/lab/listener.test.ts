import { networkInterfaces } from 'node:os';
import { beforeAll, describe, expect, test } from 'vitest';
import { locks } from '../../../../locks/index.ts';
import { startNginx } from '../../../../scripts/stack/nginx.ts';
import { makeTempDir } from '../../../../scripts/stack/parts.ts';
import { cleanUpLater } from '../../../clean-up.ts';
import { type SharedRedis, sharedRedis } from '../../../stack.ts';
import { ask, expectProblem, sendRaw, startHeldSale, startNode, type TestNode, until } from '../node-under-test.ts';

let redis: SharedRedis;
let node: TestNode;
let other: TestNode;

beforeAll(async () => {
  redis = await sharedRedis();
  [node, other] = await Promise.all([startNode(redis.url), startNode(redis.url)]);
});

describe('lab: who reaches it', () => {
  test('nobody without LAB_PORT', async () => {
    const dark = await startNode(redis.url, { LAB_PORT: '' });
    await expect(sendRaw(dark.labPort, 'GET /state HTTP/1.1\r\n\r\n')).rejects.toThrow('ECONNREFUSED');
    await until('the log says so', () => dark.lines.some((line) => line.includes('"listening"')));
    expect(dark.lines[0]).not.toContain('labPort');
  });

  test('only this machine, where the public listener is reached from outside', async () => {
    const outside = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
    // A machine without a network has another loopback address at least.
    const address = outside ?? '127.0.0.2';

    expect((await fetch(`http://${address}:${node.port}/healthz`)).status).toBe(200);
    await expect(fetch(`http://${address}:${node.labPort}/state`)).rejects.toThrow('fetch failed');
  });

  test('every address when LAB_HOST says so', async () => {
    const open = await startNode(redis.url, { LAB_HOST: '0.0.0.0' });
    expect((await fetch(`http://127.0.0.2:${open.labPort}/state`)).status).toBe(200);
  });

  test('nobody through the public port or nginx', async () => {
    const temp = makeTempDir();
    cleanUpLater(temp.remove);
    const nodes = [`127.0.0.1:${node.port}`, `127.0.0.1:${other.port}`];
    const nginx = await startNginx({ nodes, dir: temp.dir });
    cleanUpLater(nginx.part.stop);

    for (const url of [node.url, nginx.url]) {
      for (const path of ['/state', '/history', '/redis', '/stock', '/next-sale', '/lock-version']) {
        expectProblem(await ask(`${url}${path}`), 'NOT_FOUND');
        expectProblem(await ask(`${url}${path}`, { method: 'PUT' }), 'NOT_FOUND');
      }
    }
  });
});

describe('lab: /state', () => {
  test('shows the node, its lock and its counts', async () => {
    await node.lab('DELETE', '/history');
    expect(await node.state()).toEqual({
      node: node.name,
      port: node.port,
      pid: node.part.pid,
      instance: expect.stringMatching(/^[0-9a-f-]{36}$/),
      lock: '8-auto-renew',
      leaseMs: 30_000,
      retryDelayMs: 20,
      waitTimeoutMs: 10_000,
      inFlight: 0,
      held: 0,
      waiting: 0,
      unreleased: 0,
      counts: { received: 0, sold: 0, soldOut: 0, lockTimeout: 0, clientGone: 0, failed: 0, inDoubt: 0 },
      standstills: expect.any(Array),
    });
  });

  test('shows who is inside and who waits', async () => {
    await redis.client.set('{inventorybusy}:stock', 10);
    const { answer, resume } = await startHeldSale(node, 'busy');
    const second = node.sell('busy');
    await until('one sale is inside and one waits', async () => {
      const { inFlight, waiting } = await node.state();
      return inFlight === 2 && waiting === 1;
    });
    await resume();

    expect([(await answer).body.remaining, (await second).body.remaining]).toEqual([9, 8]);
    expect(await node.state()).toMatchObject({ inFlight: 0, waiting: 0, counts: { received: 2, sold: 2 } });
  });
});

describe('lab: /lock-version', () => {
  test('takes the number and the name of every lock', async () => {
    for (const [number, name] of Object.keys(locks).entries()) {
      for (const version of [number, String(number), name]) {
        const { status, body } = await node.lab('PUT', '/lock-version', { version });
        expect({ version, status, lock: body.lock }).toEqual({ version, status: 200, lock: name });
      }
    }
  });

  test('changes nothing while a sale is in flight', async () => {
    await node.lab('PUT', '/lock-version', { version: 6 });
    await redis.client.set('{inventoryflight}:stock', 10);
    const { answer, resume } = await startHeldSale(node, 'flight');

    const refused = await node.lab('PUT', '/lock-version', { version: 4 });
    const { lock } = await node.state();
    await resume();
    await answer;
    const taken = await node.lab('PUT', '/lock-version', { version: 8 });

    expectProblem(refused, 'SALES_IN_FLIGHT', { detail: new RegExp(node.name) });
    expect(lock).toBe('6-lua-release');
    expect((await answer).body).toMatchObject({ outcome: 'sold', lock: '6-lua-release' });
    expect(taken.body.lock).toBe('8-auto-renew');
  });
});

describe('lab: /stock', () => {
  test('PUT sets it, for both nodes', async () => {
    const { status, body } = await node.lab('PUT', '/stock', { sku: 'put', stock: 42 });
    expect({ status, body }).toEqual({ status: 200, body: { sku: 'put', stock: 42 } });
    expect((await other.get('/inventory?sku=put')).body).toEqual({ sku: 'put', remaining: 42 });
  });

  test('GET answers it, also while the lock is held', async () => {
    await node.lab('PUT', '/stock', { sku: 'seen', stock: 7 });
    await redis.client.hset('{inventoryseen}:lock:8-auto-renew', 'somebody else', 1);

    const { status, body } = await node.lab('GET', '/stock?sku=seen');

    expect({ status, body }).toEqual({ status: 200, body: { sku: 'seen', remaining: 7 } });
    expectProblem(await node.lab('GET', '/stock?sku=unseen'), 'NOT_FOUND');
    await redis.client.del('{inventoryseen}:lock:8-auto-renew');
  });

  test('PUT sets that of 001 when no sku is named', async () => {
    await node.lab('PUT', '/stock', { stock: 3 });
    expect(await redis.client.get('{inventory001}:stock')).toBe('3');
  });

  test('DELETE removes the stock and the lock', async () => {
    await node.lab('PUT', '/stock', { sku: 'gone', stock: 1 });
    await redis.client.set('{inventorygone}:lock:8-auto-renew', 'held');

    const { status } = await node.lab('DELETE', '/stock?sku=gone');

    expect(status).toBe(204);
    expect(await redis.client.keys('{inventorygone}:*')).toEqual([]);
  });
});

describe('lab: /next-sale', () => {
  test('a pause is for one sale of this node', async () => {
    const pausing = await startNode(redis.url);
    await node.lab('PUT', '/lock-version', { version: 8 });
    for (const sku of ['pause', 'elsewhere']) await node.lab('PUT', '/stock', { sku, stock: 10 });
    await pausing.lab('PUT', '/next-sale', { pauseMs: 600_000 });

    expect((await node.sell('pause')).body).toMatchObject({ outcome: 'sold' });
    const paused = pausing.sell('pause');
    await until('the sale has read', async () => (await pausing.events()).some(({ type }) => type === 'read'));
    expect((await pausing.sell('elsewhere')).body).toMatchObject({ outcome: 'sold' });

    expect(await pausing.state()).toMatchObject({ inFlight: 1, held: 0, counts: { received: 2, sold: 1 } });
    pausing.signal('SIGKILL');
    await expect(paused).rejects.toThrow();
  });
});

describe('lab: /history', () => {
  test('has the events of a sale in order, on a clock that both nodes share', async () => {
    for (const each of [node, other]) {
      await each.lab('PUT', '/lock-version', { version: 8 });
      await each.lab('DELETE', '/history');
    }
    await node.lab('PUT', '/stock', { sku: 'order', stock: 10 });
    const { answer, resume } = await startHeldSale(node, 'order');
    const next = other.sell('order');
    await until('the second waits', async () => (await other.state()).waiting === 1);

    await resume();
    await Promise.all([answer, next]);

    const [first, second] = await Promise.all([node.events(), other.events()]);
    for (const events of [first, second]) {
      expect(events.map(({ type }) => type)).toEqual(['waiting', 'entered', 'read', 'wrote', 'left']);
      expect(events.map(({ at }) => at)).toEqual(events.map(({ at }) => at).toSorted((a, b) => a - b));
    }
    expect(first.map(({ stock }) => stock)).toEqual([undefined, undefined, 10, 9, undefined]);
    expect(second.map(({ stock }) => stock)).toEqual([undefined, undefined, 9, 8, undefined]);
    expect(new Set(second.map((event) => `${event.node} ${event.saleId}`)).size).toBe(1);
    // The second waits while the first is inside, and enters after it has left.
    const at = (events: typeof first, type: string) => events.find((event) => event.type === type)?.at ?? Number.NaN;
    expect(at(second, 'waiting')).toBeGreaterThan(at(first, 'entered'));
    expect(at(second, 'waiting')).toBeLessThan(at(first, 'left'));
    expect(at(second, 'entered')).toBeGreaterThan(at(first, 'left'));
  });

  test('says why a sale failed', async () => {
    await node.lab('DELETE', '/history');
    await node.lab('PUT', '/stock', { sku: 'none', stock: 0 });

    await node.sell('none');

    const events = await node.events();
    expect(events.map(({ type }) => type)).toEqual(['waiting', 'entered', 'read', 'left', 'failed']);
    expect(events.at(-1)).toMatchObject({ code: 'OUT_OF_STOCK', node: node.name });
  });

  test('DELETE forgets the events, the counts and the scripted sale', async () => {
    await node.lab('PUT', '/stock', { sku: 'forgotten', stock: 10 });
    await node.sell('forgotten');
    await node.lab('PUT', '/next-sale', { untilResumed: true });

    const { status } = await node.lab('DELETE', '/history');

    expect(status).toBe(204);
    expect((await node.lab('GET', '/history')).body).toEqual({ events: [], dropped: 0 });
    expect((await node.state()).counts).toMatchObject({ received: 0, sold: 0 });
    // Nobody has to resume it.
    expect((await node.sell('forgotten')).body).toMatchObject({ outcome: 'sold' });
  });

  test('DELETE is refused while a sale is in flight', async () => {
    await node.lab('PUT', '/stock', { sku: 'kept', stock: 10 });
    const { answer, resume } = await startHeldSale(node, 'kept');

    const refused = await node.lab('DELETE', '/history');

    expectProblem(refused, 'SALES_IN_FLIGHT');
    await resume();
    expect((await answer).body.outcome).toBe('sold');
    expect((await node.events()).length).toBeGreaterThan(0);
  });
});

describe('lab: /redis', () => {
  test('names the server', async () => {
    const { body } = await node.lab('GET', '/redis');
    expect(body).toMatchObject({ version: expect.stringMatching(/^\d+\.\d+\.\d+/), server: expect.any(String) });
  });

  test('counts the commands of one sale, those inside scripts included, and not its own', async () => {
    await node.lab('PUT', '/lock-version', { version: 6 });
    await node.lab('PUT', '/stock', { sku: 'commands', stock: 10 });
    await node.sell('commands');
    const count = async () => Number((await node.lab('GET', '/redis')).body.commandsProcessed);
    const before = await count();
    expect(await count()).toBe(before);

    await node.sell('commands');

    // SET NX, GET, SET, then EVALSHA with the GET and the DEL inside it.
    expect((await count()) - before).toBe(6);
  });
});
