import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { makeTempDir, type Part } from '../../../../scripts/stack/parts.ts';
import { openZookeeper } from '../../../../scripts/stack/zookeeper.ts';
import { cleanUpLater } from '../../../clean-up.ts';
import type { TestNode } from '../node-under-test.ts';
import { openShop, type Shop } from './own-shop.ts';
import { setJobLock, tick } from './own-ticks.ts';

let shop: Shop;
let zookeeper: Part;
let node: TestNode;

beforeAll(async () => {
  const temp = makeTempDir();
  cleanUpLater(temp.remove);
  shop = await openShop();
  const server = await openZookeeper(undefined, temp);
  zookeeper = server.part as Part;
  cleanUpLater(() => zookeeper.stop());
  node = await shop.openNode({ ZOOKEEPER_URL: server.url });
});

test('a tick says which server is away: ZooKeeper, under the guard that needs it', async () => {
  await setJobLock([node], 'zookeeper');
  expect(await tick(node)).toMatchObject({ outcome: 'ran' });
  onTestFinished(() => zookeeper.signal('SIGCONT'));

  zookeeper.signal('SIGSTOP');

  expect(await tick(node)).toMatchObject({
    outcome: 'failed',
    code: 'STORE_UNAVAILABLE',
    detail: 'ZooKeeper does not answer.',
  });
});

test('a tick says which server is away: Redis, and MySQL', async () => {
  onTestFinished(shop.thawMysql);
  await setJobLock([node], '8-auto-renew');
  shop.redis.freeze();
  expect(await tick(node)).toMatchObject({ outcome: 'failed', detail: 'Redis does not answer.' });
  await shop.redis.comeBack();

  await setJobLock([node], 'conditional');
  await shop.freezeMysql();
  expect(await tick(node)).toMatchObject({ outcome: 'failed', detail: 'MySQL does not answer.' });
});
