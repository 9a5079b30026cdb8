import { expect, test } from 'vitest';
import { lockWith, writeModule } from '../../loadtest/grade/modules.ts';
import { startNode } from '../../services/inventory/node-under-test.ts';
import { sharedRedis } from '../../stack.ts';

test('an external lock that never releases: the sale is answered LOCK_FAILED after five seconds, and says why', async () => {
  const { url } = await sharedRedis();
  const file = writeModule('never-releases.ts', lockWith({ release: 'await new Promise(() => {});' }));
  const node = await startNode(url, { LOCK_MODULES: file, LOCK_VERSION: 'never-releases', LOG_LEVEL: 'silent' });
  await node.lab('PUT', '/stock', { sku: '001', stock: 5 });

  expect(await node.sell('001')).toMatchObject({
    status: 500,
    body: { code: 'LOCK_FAILED', detail: 'release() has not ended within 5000 ms.', definite: false },
  });
});
