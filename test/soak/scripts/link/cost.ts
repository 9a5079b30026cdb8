/**
 * Measures what the link costs: `npx tsx test/soak/scripts/link/cost.ts [rounds]`.
 *
 * One ioredis connection straight to Redis and one through a link do the same work in turns, once with the link in a
 * process of its own, as the nodes see it, and once in this process, where it shares the client's thread. Each figure is
 * the median of the rounds; a ratio is the median of the ratios of one round.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { openLink } from '../../../../scripts/link/link.ts';
import { dismissReaper, makeTempDir } from '../../../../scripts/stack/parts.ts';
import { openRedis } from '../../../../scripts/stack/redis.ts';

const OPERATIONS = { sequential: 4_000, pipelined: 60_000 };
const IN_FLIGHT = 50;

if (process.send) await beTheLink();
else await measure(Number(process.argv[2] ?? 15));

async function beTheLink() {
  const link = await openLink(process.argv[2] as string);
  process.send?.(link.url);
  await once(process, 'disconnect');
  await link.close();
}

async function measure(rounds: number) {
  const temp = makeTempDir();
  const server = await openRedis(process.env['REDIS_URL'], temp);
  const ownLink = await openLink(server.url);
  const child: ChildProcess = fork(fileURLToPath(import.meta.url), [server.url]);
  const [childUrl] = (await once(child, 'message')) as [string];
  const direct = new Redis(server.url);
  const linked = { 'a process of its own': new Redis(childUrl), 'the client’s process': new Redis(ownLink.url) };

  for (const [where, through] of Object.entries(linked)) {
    for (const [how, inFlight, operations] of [
      ['one at a time', 1, OPERATIONS.sequential],
      [`${IN_FLIGHT} in flight`, IN_FLIGHT, OPERATIONS.pipelined],
    ] as const) {
      const results: { without: Figures; with: Figures }[] = [];
      for (let round = -2; round < rounds; round += 1) {
        const isDirectFirst = round % 2 === 0;
        const first = await run(isDirectFirst ? direct : through, operations, inFlight);
        const second = await run(isDirectFirst ? through : direct, operations, inFlight);
        const pair = isDirectFirst ? { without: first, with: second } : { without: second, with: first };
        // The first two rounds warm up.
        if (round >= 0) results.push(pair);
      }
      const middle = (of: (pair: (typeof results)[number]) => number) => median(results.map(of));
      console.log(
        [
          `link in ${where}, ${how}:`,
          `${middle((pair) => pair.without.perSecond).toFixed(0)} operations/s without,`,
          `${middle((pair) => pair.with.perSecond).toFixed(0)} with,`,
          `ratio ${middle((pair) => pair.with.perSecond / pair.without.perSecond).toFixed(2)};`,
          `p50 ${middle((pair) => pair.without.p50).toFixed(0)} µs without, ${middle((pair) => pair.with.p50).toFixed(0)} µs with,`,
          `added ${middle((pair) => pair.with.p50 - pair.without.p50).toFixed(0)} µs`,
        ].join(' '),
      );
    }
  }

  for (const client of [direct, ...Object.values(linked)]) client.disconnect();
  child.disconnect();
  await ownLink.close();
  await server.part?.stop();
  temp.remove();
  await dismissReaper();
}

type Figures = Awaited<ReturnType<typeof run>>;

/** SETs and GETs in turn. Resolves with operations per second and the median latency in microseconds. */
async function run(redis: Redis, operations: number, inFlight: number) {
  const latencies: number[] = [];
  let sent = 0;
  async function loop() {
    while (sent < operations) {
      sent += 1;
      const start = performance.now();
      if (sent % 2 === 0) await redis.set('cost', sent);
      else await redis.get('cost');
      latencies.push((performance.now() - start) * 1000);
    }
  }
  const start = performance.now();
  await Promise.all(Array.from({ length: inFlight }, loop));
  return { perSecond: operations / ((performance.now() - start) / 1000), p50: median(latencies) };
}

function median(values: number[]) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1] as number;
}
