// Two copies of a service that run already: they are asked and left alone, and their stock is put back as it was.

import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { startNginx } from '../../../stack/nginx.ts';
import { createOwnParts } from '../../../stack/own-parts.ts';
import { makeTempDir } from '../../../stack/parts.ts';
import { openReplyLink } from '../../../stack/proxy/link.ts';
import { type Copy, type ForeignStack, listens } from './stack.ts';

export interface Running {
  /** The copies, such as `http://127.0.0.1:8081`. */
  urls: string[];
  redisUrl: string;
  /** The key of their stock. */
  stock: string;
}

/** Opens nginx before them. Rejects with a sentence when their Redis does not answer. */
export async function openRunningStack({ urls, redisUrl, stock }: Running): Promise<ForeignStack> {
  const redis = new Redis(redisUrl, { lazyConnect: true, retryStrategy: () => null });
  redis.on('error', () => {});
  await redis.connect().catch(() => {
    throw new Error(
      `No Redis answers at ${new URL(redisUrl).host}: say with --redis where both copies keep the stock.`,
    );
  });
  const [kept, leftMs] = [await redis.dumpBuffer(stock), await redis.pttl(stock)];
  for (const url of urls)
    if (!(await listens(Number(new URL(url).port))))
      throw new Error(`Nobody listens at ${url}: start both copies first.`);
  const temp = makeTempDir();
  const parts = createOwnParts();
  const hosts = urls.map((url) => new URL(url).host);
  // No copy is led through it: it tells where their Redis is.
  const link = await openReplyLink(redisUrl);
  const stop = () =>
    parts.stopAll(async () => {
      if (kept === null) await redis.del(stock);
      else await redis.restore(stock, Math.max(0, leftMs), kept, 'REPLACE');
      redis.disconnect();
      await link.close();
      temp.remove();
    });

  async function open(nodes: string[], folder: string) {
    const dir = join(temp.dir, folder);
    mkdirSync(dir);
    const nginx = await startNginx({ host: '127.0.0.1', nodes, dir });
    parts.watch(nginx.part);
    return nginx;
  }

  try {
    const both = await open(hosts, 'both');
    const copies: Copy[] = [];
    for (const [index, host] of hosts.entries()) {
      const alone = await open([host, host], `alone-${index}`);
      copies.push({
        name: `node-${index + 1}`,
        url: urls[index] ?? '',
        loadUrl: alone.url,
        link,
        lines: [],
        isUnreadable: () => false,
        number: () => 1,
        passed: () =>
          [both, alone]
            .flatMap(({ accessLog }) => readFileSync(accessLog, 'utf8').split('\n'))
            .filter((line) => line.includes(`node=${host} `)).length,
      });
    }
    return {
      copies: copies as ForeignStack['copies'],
      url: both.url,
      nginx: `${both.kind} ${both.version}`,
      redis: { url: redisUrl, kind: 'external' },
      partDied: parts.partDied,
      lock: { isInRedis: true },
      setLease() {},
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
