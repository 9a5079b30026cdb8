import { beforeAll, expect, test } from 'vitest';
import { jsonBody, sendRaw, startNode, startRedis, type TestNode } from '../../services/inventory/node-under-test.ts';

const LIMIT_MS = 1_000;
let node: TestNode;

beforeAll(async () => {
  const redis = await startRedis();
  node = await startNode(redis.url, { REQUEST_TIMEOUT_MS: String(LIMIT_MS) });
  await redis.client.set('{inventory001}:stock', 10);
});

const head = (method: string, path: string) => `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n`;
const half = 'Content-Type: application/json\r\nContent-Length: 20\r\n\r\n{"sku"';

test('a request that is late: half a header and half a body are answered 408 within half the limit more, by both listeners', async () => {
  const tookMs = async (port: number, text: string) => {
    const from = performance.now();
    expect(await sendRaw(port, text)).toMatch(/^HTTP\/1\.1 408 [\s\S]*"code":"REQUEST_TIMEOUT"/);
    return performance.now() - from;
  };
  const [sale, stock] = [head('POST', '/inventory/sale'), head('PUT', '/stock')];
  const all = [
    tookMs(node.port, sale),
    tookMs(node.port, sale + half),
    tookMs(node.labPort, stock),
    tookMs(node.labPort, stock + half),
  ];

  for (const ms of await Promise.all(all)) {
    expect(ms).toBeGreaterThan(LIMIT_MS * 0.95);
    expect(ms).toBeLessThan(LIMIT_MS * 1.5);
  }
});

test('a request that has come is not late, however long its sale takes', async () => {
  await node.lab('PUT', '/next-sale', { pauseMs: 3 * LIMIT_MS });

  const answer = await fetch(`${node.url}/inventory/sale`, { method: 'POST', ...jsonBody({ sku: '001' }) });

  expect(await answer.json()).toMatchObject({ outcome: 'sold' });
});
