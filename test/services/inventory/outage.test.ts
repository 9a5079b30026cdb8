import { once } from 'node:events';
import { type AddressInfo, createServer, connect as dial, type Socket } from 'node:net';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { cleanUpLater } from '../../clean-up.ts';
import {
  expectProblem,
  startHeldSale,
  startLink,
  startNode,
  startNodeAlone,
  startRedis,
  type TestNode,
  type TestRedis,
  until,
} from './node-under-test.ts';

let redis: TestRedis;
let nodes: TestNode[];
let node: TestNode;

beforeAll(async () => {
  redis = await startRedis();
  nodes = await Promise.all([startNode(redis.url), startNode(redis.url)]);
  node = nodes[0] as TestNode;
});

beforeEach(async () => {
  // A test that failed may have left it away.
  await redis.comeBack();
  await redis.client.flushall();
  for (const each of nodes) await until('the node is ready', async () => (await each.get('/readyz')).status === 200);
});

const ways = [
  { way: 'Redis is killed and a new one starts', isKilled: true },
  { way: 'Redis freezes and runs again', isKilled: false },
];
const locks = ['3-spin', '8-auto-renew'];
const cases = ways.flatMap((way) => locks.map((lock) => ({ ...way, lock })));

async function takeAway(isKilled: boolean) {
  if (isKilled) await redis.kill();
  else redis.freeze();
}

async function setLock(lock: string) {
  for (const each of nodes) expect((await each.lab('PUT', '/lock-version', { version: lock })).status).toBe(200);
}

const stockKey = (sku: string) => `{inventory${sku}}:stock`;
const lockKeys = (sku: string) => redis.client.keys(`{inventory${sku}}:lock:*`);

describe('outage: one sale', () => {
  test.each(cases)(
    '$lock, $way: a lock that nobody knows of does not block the next sale',
    async ({ lock, isKilled }) => {
      await setLock(lock);
      await redis.client.set(stockKey('orphan'), 10);
      await takeAway(isKilled);
      // A frozen Redis has this sale's command in its socket, and takes the lock for it when it runs again.
      const refused = await Promise.all(nodes.map((each) => each.sell('orphan')));
      for (const answer of refused) expectProblem(answer, 'STORE_UNAVAILABLE');

      await redis.comeBack();
      await redis.client.set(stockKey('orphan'), 777);
      for (const each of nodes) {
        await until('the node is ready', async () => (await each.get('/readyz')).status === 200);
      }
      for (const each of nodes) expect((await each.sell('orphan')).body.outcome).toBe('sold');

      expect(await redis.client.get(stockKey('orphan'))).toBe('775');
      expect(await lockKeys('orphan')).toEqual([]);
    },
  );

  test('Redis is killed: waiters are answered, and did not buy', async () => {
    await setLock('8-auto-renew');
    await redis.client.set(stockKey('waiters'), 10);
    const { answer, resume } = await startHeldSale(node, 'waiters');
    const waiting = nodes.flatMap((each) => [each.sell('waiters'), each.sell('waiters')]);
    await until(
      'they wait',
      async () => (await nodes[1]?.state())?.waiting === 2 && (await node.state()).waiting === 2,
    );

    await redis.kill();
    const answers = await Promise.all(waiting);

    for (const each of answers) expectProblem(each, 'STORE_UNAVAILABLE', { detail: /before/ });
    await redis.comeBack();
    await resume();
    await answer;
  });

  test('a sale that never got to ask for its lock does not delete that of somebody else', async () => {
    await setLock('3-spin');
    await redis.client.set('{inventoryother}:lock:3-spin', 'somebody else');
    redis.freeze();
    // From the first answer that does not come in time, the node knows that Redis is away, and sends nothing more.
    expectProblem(await node.get('/inventory'), 'STORE_UNAVAILABLE');

    for (let sale = 1; sale <= 3; sale += 1) expectProblem(await node.sell('other'), 'STORE_UNAVAILABLE');
    await redis.comeBack();
    await until('the node is ready', async () => (await node.get('/readyz')).status === 200);

    expect(await redis.client.get('{inventoryother}:lock:3-spin')).toBe('somebody else');
  });

  test('a sale that never got to send its write certainly did not take place', async () => {
    await setLock('8-auto-renew');
    await redis.client.set(stockKey('unsent'), 10);
    const { answer, resume } = await startHeldSale(node, 'unsent');

    await redis.kill();
    // From this answer on the node knows that Redis is away.
    expectProblem(await node.get('/readyz'), 'STORE_UNAVAILABLE');
    await resume();

    expectProblem(await answer, 'STORE_UNAVAILABLE', { definite: true, detail: /before/ });
    await redis.comeBack();
  });

  test('a sale whose write was sent and not answered is in doubt', async () => {
    await setLock('8-auto-renew');
    await redis.client.set(stockKey('sent'), 10);
    const { answer, resume } = await startHeldSale(node, 'sent');

    redis.freeze();
    await resume();

    expectProblem(await answer, 'STORE_UNAVAILABLE', { definite: false, detail: /while/ });
    expect((await node.events()).at(-1)).toMatchObject({ type: 'failed', code: 'STORE_UNAVAILABLE' });
    await redis.comeBack();
    // Redis had the write in its socket: it is done after all, and the lock is given up.
    await until('the write is done', async () => (await redis.client.get(stockKey('sent'))) === '9');
    await until('no lock is left', async () => (await lockKeys('sent')).length === 0);
  });

  test('a write that is held up on its way to Redis never lands on a later stock', async ({ skip }) => {
    const info = String(await redis.client.call('CLIENT', 'INFO'));
    skip(!/ addr=\S/.test(info), 'The embedded Valkey does not know its connections by address, so none can be ended.');
    const line = await startHoldingLine(redis.port);
    const far = await startNode(`redis://127.0.0.1:${line.port}`);
    await redis.client.set(stockKey('late'), 10);
    line.holdFrom(`set\r\n$${stockKey('late').length}\r\n${stockKey('late')}`);
    const inDoubt = await far.sell('late');
    expectProblem(inDoubt, 'STORE_UNAVAILABLE', { definite: false });
    await until('the node has a new connection', async () => (await far.get('/readyz')).status === 200);
    await far.lab('PUT', '/stock', { sku: 'late', stock: 777 });

    await line.deliver();

    expect(await redis.client.get(stockKey('late'))).toBe('777');
    await until('no lock is left', async () => (await lockKeys('late')).length === 0);
    expect((await far.sell('late')).body).toMatchObject({ outcome: 'sold', stockBefore: 777 });
  });

  test('a full Redis refuses the write and answers the release: the lock is not deleted a second time', async () => {
    const link = await startLink(redis.url);
    const far = await startNode(link.url, { LOCK_VERSION: '3-spin' });
    await redis.client.set(stockKey('full'), 10);
    await far.lab('PUT', '/next-sale', { untilResumed: true });
    const answer = far.sell('full');
    await until('the sale has read', async () => (await far.events()).some(({ type }) => type === 'read'));
    onTestFinished(async () => void (await redis.client.config('SET', 'maxmemory', '0')));
    await redis.client.config('SET', 'maxmemory', '1');

    await far.lab('PUT', '/resume');
    expect((await answer).body).toMatchObject({ code: 'STORE_UNAVAILABLE' });
    // Whatever the node sends after its release comes to the link before this PING.
    expect((await far.get('/readyz')).status).toBe(200);

    expect(link.counters.commands.get('DEL')).toBe(1);
    expect(await redis.client.get(stockKey('full'))).toBe('10');
    expect(await lockKeys('full')).toEqual([]);
  });

  test('the other calls answer 503 as well, on both listeners, and none of them hangs', async () => {
    await redis.kill();

    for (const path of ['/inventory', '/readyz', '/inventory/sale']) {
      expectProblem(await node.get(path), 'STORE_UNAVAILABLE');
    }
    expectProblem(await node.lab('PUT', '/stock', { stock: 5 }), 'STORE_UNAVAILABLE');
    expectProblem(await node.lab('DELETE', '/stock'), 'STORE_UNAVAILABLE');
    expectProblem(await node.lab('GET', '/redis'), 'STORE_UNAVAILABLE');
    expect((await node.get('/healthz')).status).toBe(200);
    expect((await node.get('/metrics')).status).toBe(200);
    expect((await node.lab('GET', '/state')).status).toBe(200);
    await redis.comeBack();
  });

  test('a node that starts while Redis is away sells when it comes', async () => {
    await redis.kill();
    const early = await startNodeAlone(redis.url);
    expectProblem(await early.sell('early'), 'STORE_UNAVAILABLE');

    await redis.comeBack();
    await redis.client.set(stockKey('early'), 10);

    await until('it sells', async () => (await early.sell('early')).status === 200);
  });

  test('no node has died, logged a bug or warned of leaking listeners', () => {
    for (const { lines } of nodes) expect(lines.filter((line) => !line.includes('"listening"'))).toEqual([]);
  });
});

/** A TCP line to `port` that can hold what one connection sends, and deliver it long after the sender has gone. */
async function startHoldingLine(port: number) {
  let pattern: string | undefined;
  let held: { to: Socket; bytes: Buffer[] } | undefined;
  const server = createServer({ allowHalfOpen: true }, (from) => {
    const to = dial(port, '127.0.0.1');
    to.on('error', () => {}).on('data', (chunk) => from.write(chunk));
    from.on('error', () => {});
    from.on('data', (chunk) => {
      if (pattern !== undefined && chunk.includes(pattern)) {
        held = { to, bytes: [] };
        pattern = undefined;
      }
      if (held?.to === to) held.bytes.push(chunk);
      else to.write(chunk);
    });
    from.on('close', () => held?.to !== to && to.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  cleanUpLater(() => void server.close());
  return {
    port: (server.address() as AddressInfo).port,
    holdFrom(text: string) {
      pattern = text;
    },
    /** Resolves when Redis has read it, or has closed the connection. */
    async deliver() {
      if (held === undefined) throw new Error('Nothing is held.');
      const { to, bytes } = held;
      if (to.writable) {
        to.end(Buffer.concat(bytes));
        await new Promise((resolve) => to.once('close', resolve));
      }
    },
  };
}
