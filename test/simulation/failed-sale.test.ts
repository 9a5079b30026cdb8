// What a sale that fails says of itself: whether it has certainly not taken place depends on how far its write had come.

import { EventEmitter } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import type { TakeOne } from '../../locks/lock.ts';
import { createRegistry } from '../../locks/strategy.ts';
import { createHistory } from '../../services/inventory/sale/history.ts';
import type { Client } from '../../services/inventory/sale/holder.ts';
import { createMetrics } from '../../services/inventory/sale/metrics.ts';
import type { SaleServiceParts } from '../../services/inventory/sale/parts.ts';
import { createSaleService } from '../../services/inventory/sale/sale-service.ts';
import { fenceKey, lockKey } from '../../services/inventory/servers/store.ts';
import { ownLab, STOCK_KEY } from './own-lab.ts';

type Lab = Awaited<ReturnType<typeof ownLab>>;

/** In the place of a key that a sale has used, there is one that its next command can't read. */
const spoil = (lab: Lab, key: string) => {
  lab.ask('DEL', key);
  lab.ask('RPUSH', key, 'x');
};
const cut = (lab: Lab) => lab.proxy(0).cut('reset');
const inDoubt = { code: 'STORE_UNAVAILABLE', definite: false, detail: expect.stringMatching(/while the sale/) };
const refuseWrites = (lab: Lab, replicas: number) =>
  lab.redis.execute(0, ['CONFIG', 'SET', 'min-replicas-to-write', replicas]);

/** `at`: the commands that something is done at, by their name or that of their script, each before Redis gets it. */
test.each<
  [lock: string, what: string, at: string, (lab: Lab, time: number) => unknown, answer: object, sku?: string[]]
>([
  ['8-auto-renew', 'its write is not answered', 'SET', cut, inDoubt],
  ['redis-atomic', 'its script is not answered', 'take-one', cut, inDoubt],
  ['combine', 'the write of its batch is not answered', 'write-if-newest', cut, inDoubt],
  ['buckets', 'its write is not answered', 'write-if-newest', cut, inDoubt],
  ['multi', 'the first write of a basket is not answered', 'write-if-newest', cut, inDoubt, ['001', '002']],
  [
    ...(['multi', 'the second write is refused, and the first one put back', 'write-if-newest'] as const),
    (lab, time) => refuseWrites(lab, time === 2 ? 1 : 0),
    { code: 'STORE_UNAVAILABLE', definite: true, detail: expect.stringMatching(/before the sale/) },
    ['001', '002'],
  ],
  [
    ...(['fenced', 'its write meets a key that is unreadable', 'write-if-newest'] as const),
    (lab) => spoil(lab, fenceKey('001')),
    { code: 'DATA_UNREADABLE', definite: true },
  ],
  [
    ...(['7-reentrant', 'after its write the lock is unreadable', 'release-reentrant'] as const),
    (lab) => spoil(lab, lockKey('001', '7-reentrant')),
    { code: 'DATA_UNREADABLE', definite: false },
  ],
  [
    ...(['7-reentrant', 'it was lost after its write', 'release-reentrant'] as const),
    (lab) => lab.ask('DEL', lockKey('001', '7-reentrant')),
    { code: 'LOCK_NOT_HELD', definite: false },
  ],
  [
    ...(['7-reentrant', 'the lock was lost, and nothing was left to sell', 'GET'] as const),
    (lab) => lab.ask('DEL', lockKey('001', '7-reentrant')) && lab.ask('SET', STOCK_KEY, 0),
    { code: 'OUT_OF_STOCK', definite: true, detail: 'Sold out; the lock was lost during the sale.' },
  ],
])('%s: %s', async (lock, _what, at, act, expected, skus = ['001']) => {
  const lab = await ownLab(lock);
  onTestFinished(() => void refuseWrites(lab, 0));
  lab.ask('SET', STOCK_KEY.replace('001', '002'), 100);
  let times = 0;
  lab.proxy(0).watch(({ name, script }) => {
    if ((script ?? name) === at) act(lab, ++times);
  });
  const answers: unknown[] = [];
  const sell = () =>
    lab.request(
      0,
      (service, client) => service.sell(skus, client),
      (end) => answers.push(JSON.parse(end?.body ?? '')),
    );

  sell();
  if (lock === 'combine') sell();
  await lab.schedule.until(() => answers.length > (lock === 'combine' ? 1 : 0), 60_000);

  for (const answer of answers) expect(answer).toMatchObject(expected);
  if ((expected as { definite: boolean }).definite && at !== 'GET') expect(lab.stock()).toBe(100);
  expect(times).toBeGreaterThan(0);
});

const deadlock = Object.assign(new Error(), { code: 'ER_LOCK_DEADLOCK' });
test.each<[what: string, write: () => Promise<unknown>, definite: boolean]>([
  ['was refused', async () => false, true],
  ['was refused with an error', () => Promise.reject(deadlock), true],
  ['was done', async () => true, false],
])('a sale in one step whose write %s, and which then meets a server that is away', async (_what, send, definite) => {
  const takeOne: TakeOne = async ({ write }) => {
    await write(send).catch(() => {});
    throw new Error('Connection is closed.');
  };
  const sales = createSaleService({
    registry: createRegistry({ own: { backend: 'mysql', stockIn: 'mysql', takeOne } }),
    settings: { PORT: 1, LOCK_VERSION: 'own', LEASE_MS: 1, RETRY_DELAY_MS: 1, WAIT_TIMEOUT_MS: 1_000 },
    store: { mustCarry: async () => {}, onAway() {}, bucketOf() {} },
    servers: { forLock: () => ({}), sendTogether() {} },
    ...{ node: 'a', history: createHistory('a'), metrics: createMetrics(), log: { debug() {} } },
  } as unknown as SaleServiceParts);

  const failed = await sales.sell(['001'], new EventEmitter() as unknown as Client).catch((error) => error);

  expect(failed.problem).toMatchObject({ code: 'STORE_UNAVAILABLE', definite });
});
