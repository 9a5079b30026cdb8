// The turns of the hand-written service: two processes behind their own nginx, with the Redis of the bench.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { stockKey } from '../../services/inventory/servers/store.ts';
import { bundledArgs } from '../../stack/bundle.ts';
import { startNginx } from '../../stack/nginx.ts';
import { all, createOwnParts } from '../../stack/own-parts.ts';
import { makeTempDir, retryOnTakenPort, startPart } from '../../stack/parts.ts';
import { freePort } from '../../stack/ports.ts';
import { sendSales } from '../harness/sales.ts';
import type { Target } from '../harness/target.ts';
import { quantile, sum } from '../narration/numbers.ts';
import { type CpuTime, cpuPerAcquisition, groupCpu, nodeCpuIn, redisCpu } from './cpu-time.ts';
import { WARM_UP_SALES } from './http-turn.ts';
import type { TurnFigures } from './results.ts';

const HOST = '127.0.0.1';
const NODES = 2;
/** More than a turn can sell. */
const UNITS = 1_000_000_000;
/** How long a sale may take, in milliseconds: nothing is waited for. */
const SALE_LIMIT_MS = 20_000;

export type ByHand = Awaited<ReturnType<typeof openByHand>>;

/** Starts the service written by hand. `onDeath` is told when one of its processes ends that nobody stopped. */
export async function openByHand({ stack, clock, network, wire }: Target, onDeath: (sentence: string) => void) {
  if (stack === undefined) throw new Error('The hand-written service needs the Redis of a stack.');
  const { redis } = stack;
  const parts = createOwnParts();
  const temp = makeTempDir();
  void parts.partDied.then(({ inShort }) => onDeath(inShort));
  try {
    const urls = await all(Array.from({ length: NODES }, startOne));
    const dir = join(temp.dir, 'nginx');
    mkdirSync(dir);
    const nginx = await startNginx({ host: HOST, nodes: urls.map((url) => new URL(url).host), dir });
    parts.watch(nginx.part);
    return { runTurn, close };

    /** Measures it once, as a rush of its sales. */
    async function runTurn(connections: number, requests: number, signal: AbortSignal): Promise<TurnFigures> {
      const sell = (sales: number) =>
        sendSales(
          { clock, network, wire },
          { url: nginx.url, requests: sales, connections, requestLimitMs: SALE_LIMIT_MS, signal, onAnswer() {} },
        );
      const client = new Redis(redis.url);
      try {
        await client.set(stockKey('001'), UNITS);
        await sell(WARM_UP_SALES);
        const before = await cpuSoFar(client);
        const { sold, sent, durationMs, samples } = await sell(requests);
        signal.throwIfAborted();
        const after = await cpuSoFar(client);
        const waits = sold.map(({ latencyMs }) => latencyMs).sort((a, b) => a - b);
        const taken = UNITS - Number(await client.get(stockKey('001'))) - WARM_UP_SALES;
        if (taken !== sold.length) throw new Error(`${sold.length} sales took ${taken} units.`);
        return {
          perSecond: (1_000 * sold.length) / durationMs,
          cpuMicros: cpuPerAcquisition(before, after, sold.length),
          waitMs: { p50: quantile(waits, 0.5), p99: quantile(waits, 0.99), max: quantile(waits, 1) },
          sections: sold.length,
          lostUpdates: 0,
          starved: 0,
          errors: sent - sold.length,
          ...(samples.nonsense !== undefined && { error: samples.nonsense }),
        };
      } finally {
        client.disconnect();
      }
    }

    async function cpuSoFar(client: Redis): Promise<CpuTime> {
      const ofNodes = urls.map(async (url) => nodeCpuIn(await (await fetch(`${url}/metrics`)).text()));
      const ofRedis = redis.kind === 'native' ? [client] : [];
      return {
        processes: sum(await Promise.all(ofNodes)),
        nginx: groupCpu(nginx.part.pid),
        redis: await redisCpu(ofRedis),
      };
    }
  } catch (error) {
    await close();
    throw error;
  }

  async function startOne(_: unknown, index: number): Promise<string> {
    const args = await bundledArgs('loadtest/bench/by-hand.ts');
    return retryOnTakenPort(async () => {
      const port = await freePort(HOST);
      const url = `http://${HOST}:${port}`;
      const part = await startPart({
        name: `by-hand-${index + 1}`,
        command: process.execPath,
        args,
        env: { ...process.env, PORT: String(port), REDIS_URL: redis.url },
        addresses: [{ host: HOST, port }],
        isReady: async () => (await fetch(`${url}/metrics`)).ok,
      });
      parts.watch(part);
      return url;
    });
  }

  function close() {
    return parts.stopAll(() => temp.remove());
  }
}
