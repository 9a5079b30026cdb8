import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { openLab } from '../../simulation/lab.ts';
import { lockNamed } from '../../simulation/lock-service.ts';
import { LEASE_MS, ownLab, STOCK_KEY } from './own-lab.ts';

const LOCK_KEY = '{inventory001}:lock:4-ttl';
const away = { code: 'STORE_UNAVAILABLE' };

describe('lab: sales in virtual time', () => {
  test('a file that asks for what there is not can’t be played, and is told why', async () => {
    const file = fileURLToPath(new URL('../../locks/drivers/zookeeper-session.ts', import.meta.url));
    const lock = { ...lockNamed('3-spin'), file };

    await expect(openLab({ lock, leaseMs: LEASE_MS })).rejects.toThrow(
      /^it imports .*, which the simulation does not have/,
    );
  });
});

describe('lab: a proxy', () => {
  test('a cut that resets rejects at once what is under way, and what comes later; restored, the node connects again', async () => {
    const lab = await ownLab('3-spin');
    lab.ask('SET', '{inventory001}:lock:3-spin', 'somebody');
    const waiting = lab.sell(0);
    await lab.pass(1_000);
    lab.proxy(0).cut('reset');
    const later = lab.sell(0);
    await lab.ended(waiting, later);

    expect([waiting.answer(), later.answer()]).toMatchObject([away, away]);
    lab.proxy(0).restore();
    lab.ask('DEL', '{inventory001}:lock:3-spin');
    await lab.pass(100);
    const last = lab.sell(0);
    await lab.ended(last);

    expect(last.answer()).toMatchObject({ outcome: 'sold' });
  });

  test('a silent cut: nobody is told, so the sale gives up after 700 ms; what was sent arrives when it is restored', async () => {
    const lab = await ownLab('4-ttl');
    lab.proxy(0).cut('silent');
    const sale = lab.sell(0);
    await lab.ended(sale);

    expect(sale.answer()).toMatchObject(away);
    // The request takes 0.1 ms, and so does its answer.
    expect(sale.endedAt()).toBeCloseTo(700.2, 6);
    expect(lab.ask('EXISTS', LOCK_KEY)).toBe(0);
    lab.proxy(0).restore();
    await lab.pass(1);

    expect(lab.ask('EXISTS', LOCK_KEY)).toBe(1);
    // Nobody knows of that lock, and it is given back all the same.
    await lab.pass(LEASE_MS / 2);
    expect(lab.ask('EXISTS', LOCK_KEY)).toBe(0);
  });
});

test('lab: a proxy that is moved ends the listening at the server that it led to', async () => {
  const lab = await ownLab('blocking');
  const holder = lab.sell(1, { untilResumed: true });
  await lab.pass(100);
  const waiter = lab.sell(0);
  await lab.pass(100);
  const listening = () => (lab.ask('PUBSUB', 'CHANNELS') as string[]).length;
  expect([holder.answer(), waiter.answer(), listening()]).toEqual([undefined, undefined, 1]);

  lab.proxy(0).moveTo(await lab.openServer());
  await lab.pass(1);

  expect(listening()).toBe(0);
});

describe('lab: a node', () => {
  test('stopped, it does nothing, and its timers are late; what has come meanwhile is read when it goes on', async () => {
    const lab = await ownLab('6-lua-release');
    const sale = lab.sell(0, { pauseMs: 200 });
    await lab.pass(100);
    lab.node(0).stop();
    const other = lab.sell(0);
    await lab.pass(5_000);

    expect([sale.answer(), other.answer(), lab.stock()]).toEqual([undefined, undefined, 100]);
    lab.node(0).resume();
    await lab.ended(sale, other);

    expect(lab.events(0).find(({ type }) => type === 'wrote')?.at).toBeGreaterThan(5_100);
    expect(other.answer()).toMatchObject({ outcome: 'sold' });
  });

  test('without a core it is late by so long, and notes it as the watch of a real one does, between two looks', async () => {
    const lab = await ownLab('4-ttl');
    await lab.pass(110);
    lab.node(0).standStill(300);
    const sale = lab.sell(0);
    await lab.ended(sale);

    expect(lab.events(0)[0]).toMatchObject({ type: 'waiting', at: 410 });
    expect(lab.node(0).standstills).toEqual([{ from: 100, until: 410, ms: 290 }]);
  });

  test('with a blocked event loop it neither renews nor answers, and its clock goes on', async () => {
    const lab = await ownLab('8-auto-renew');
    const sale = lab.sell(0, { blockMs: 3_000 });
    await lab.pass(2_000);

    expect(lab.ask('EXISTS', '{inventory001}:lock:8-auto-renew')).toBe(0);
    const other = lab.sell(1);
    await lab.ended(other, sale);

    expect(other.endedAt()).toBeLessThan(sale.endedAt());
    expect(lab.stock()).toBe(99);
  });
});

test.each([
  [{ pauseMs: 600_000 }],
  // It comes to its pause when the node is stopping already.
  [{ beforeNestedCall: true, pauseMs: 600_000 }],
])('lab: a sale with the script %j is ended by the stop of its node, and does not delay it', async (script) => {
  const lab = await ownLab('3-spin');
  const sale = lab.sell(0, script);
  await lab.pass(1_000);
  const { take, service } = lab.node(0);
  take(service.endScripts);
  await lab.pass(10);

  expect([sale.answer(), service.state().inFlight]).toMatchObject([{ outcome: 'sold' }, 0]);
});

test('lab: where no replica has heard, WAIT answers when its time is over, and its connection stands still until then', async () => {
  const lab = await ownLab('replicated');
  const sale = lab.sell(0);
  await lab.pass(100);
  const { take, service } = lab.node(0);
  let answeredAt = 0;
  take(() => void service.redis.get(STOCK_KEY).then(() => (answeredAt = lab.now())));
  await lab.ended(sale);

  expect(sale.answer()).toMatchObject({ code: 'NOT_REPLICATED', definite: true });
  // A fifth of the lease, after the way of the request, to Redis and back, and there and back.
  expect(answeredAt).toBeCloseTo(0.1 + 4 * 0.31 + 200, 6);
  expect([lab.ask('EXISTS', '{inventory001}:lock:replicated'), lab.stock()]).toEqual([0, 100]);
});

test('lab: who waits for a random time does not go in step', async () => {
  const lab = await ownLab('redlock', { masters: 5 });
  const sales = [lab.sell(0), lab.sell(1), lab.sell(0), lab.sell(1)];

  await lab.ended(...sales);

  expect(sales.map(({ answer }) => answer())).toMatchObject(Array(4).fill({ outcome: 'sold' }));
  expect(lab.stock()).toBe(96);
});
