import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Target } from '../../../loadtest/harness/target.ts';
import { until } from '../../services/inventory/node-under-test.ts';
import { expectAllSold, openTargetAt, runLoad } from '../../services/inventory/rush-at.ts';
import { accountOf, startBuyers } from './buyers.ts';
import { ownServers } from './own-servers.ts';

const { startSentinels } = ownServers();
let servers: Awaited<ReturnType<typeof startSentinels>>;
let target: Target;

beforeAll(async () => {
  servers = await startSentinels();
  target = await openTargetAt(servers.url);
});

afterAll(() => target?.close());

const answers = async ({ publicUrl }: { publicUrl: string }) => (await fetch(`${publicUrl}/readyz`)).status;

test('sentinel: the master is killed; the shop refuses meanwhile and sells again from the replica', async () => {
  for (const node of target.nodes) await node.setLock('8-auto-renew', { leaseMs: 1_000 });
  await target.nodes[0]?.setStock(100_000);
  const { purchases, hasSoldSince, stop } = startBuyers([`${target.url}/inventory/sale`], 20);
  await until('they sell', () => hasSoldSince(0));

  await servers.master.kill();
  const killedAt = performance.now();
  const isPromoted = async () => /role:master/.test(await servers.replica.client.info('replication'));
  await until('the replica is promoted', isPromoted);
  const promotedAt = performance.now();
  await until('they sell', () => hasSoldSince(promotedAt));
  await stop();
  // The sale was on one node, and the other one may be a moment behind.
  const isReady = async () => (await Promise.all(target.nodes.map(answers))).every((status) => status === 200);
  await until('both nodes reach the new master', isReady);

  expect(purchases.some(({ status, startedAt }) => status !== 200 && startedAt > killedAt)).toBe(true);
  const { refusals, slowestMs } = accountOf(purchases);
  expect(refusals).toEqual(['503 STORE_UNAVAILABLE']);
  expect(slowestMs).toBeLessThan(1_000);
  expectAllSold(await runLoad(target, '8-auto-renew'));
});
