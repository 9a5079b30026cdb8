// Two copies of a service that are already running: they get requests, nothing else is done to them, and their stock is restored.

import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import type { Running } from './said.ts';
import { type Copy, type ForeignStack, listens, openGround } from './stack.ts';

/** Opens nginx in front of both copies. Rejects with a sentence when their Redis does not reply. */
export async function openRunningStack({ urls, redisUrl, stock }: Running): Promise<ForeignStack> {
  const redis = new Redis(redisUrl, { lazyConnect: true, retryStrategy: () => null });
  redis.on('error', () => {});
  await redis.connect().catch(() => {
    throw new Error(
      `No Redis replies at ${new URL(redisUrl).host}. Pass the Redis in which both copies keep the stock with --redis.`,
    );
  });
  const [kept, leftMs] = [await redis.dumpBuffer(stock), await redis.pttl(stock)];
  for (const url of urls)
    if (!(await listens(Number(new URL(url).port))))
      throw new Error(`Nothing listens at ${url}. Start both copies first.`);
  const ground = openGround();
  const stop = () =>
    ground.stop(async () => {
      if (kept === null) await redis.del(stock);
      else await redis.restore(stock, Math.max(0, leftMs), kept, 'REPLACE');
      redis.disconnect();
    });

  try {
    // No copy is led through it: it tells where their Redis is.
    const link = await ground.openLink(redisUrl);
    const { both, alone, url, nginx } = await ground.balance(urls);
    const copies = alone.map(
      (own, index): Copy => ({
        name: `node-${index + 1}`,
        url: urls[index] ?? '',
        loadUrl: own.url,
        link,
        lines: [],
        isUnreadable: () => false,
        passed: () =>
          [both, own]
            .flatMap(({ accessLog }) => readFileSync(accessLog, 'utf8').split('\n'))
            .filter((line) => line.includes(`node=${new URL(urls[index] ?? '').host} `)).length,
      }),
    );
    return {
      copies: copies as ForeignStack['copies'],
      url,
      nginx,
      redis: { url: redisUrl, kind: 'external' },
      partDied: ground.partDied,
      lock: { isInRedis: true, leaseMs: 0 },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
