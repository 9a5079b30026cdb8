import { Agent } from 'node:http';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { startStack } from '../../../stack/stack.ts';
import { ask } from '../../nginx/client.ts';
import { until } from '../../services/inventory/node-under-test.ts';

const BUYERS = 100;
const STOCK = 1_000_000;
/** So many sales between two steps show that all is well again. */
const SALES_BETWEEN = 1_000;

test.each(['GET', 'POST'])(
  'rolling restart: %s, 100 buyers, and each of them gets a sale for every request',
  async (method) => {
    const stack = await startStack({ env: { DRAIN_MS: '1000', LOCK_VERSION: 'redis-atomic', LOG_LEVEL: 'warn' } });
    onTestFinished(stack.stop);
    const redis = new Redis(stack.redis.url);
    onTestFinished(() => redis.disconnect());
    await redis.set('{inventory001}:stock', STOCK);
    const answers: Record<string, number> = {};
    let asked = 0;
    let isOver = false;

    async function buy() {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      while (!isOver) {
        asked += 1;
        const answer = await ask(`${stack.nginx.url}/inventory/sale`, { method, agent }).then(
          ({ status, body }) => (status === 200 ? 'sold' : `${status} ${body}`),
          (error: Error) => `none: ${error.message}`,
        );
        answers[answer] = (answers[answer] ?? 0) + 1;
      }
      agent.destroy();
    }
    const sold = () => answers['sold'] ?? 0;
    async function untilSoldMore() {
      const enough = sold() + SALES_BETWEEN;
      await until('more is sold', () => sold() >= enough);
    }

    const buyers = Array.from({ length: BUYERS }, buy);
    for (const node of stack.nodes) {
      await untilSoldMore();
      await node.stop();
      await untilSoldMore();
      await node.start();
    }
    await untilSoldMore();
    isOver = true;
    await Promise.all(buyers);

    expect(answers).toEqual({ sold: asked });
    expect(Number(await redis.get('{inventory001}:stock'))).toBe(STOCK - asked);
  },
);
