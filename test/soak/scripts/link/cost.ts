/**
 * Measures what the link costs: `npx tsx test/soak/scripts/link/cost.ts [rounds]`.
 *
 * One connection straight to Redis and one through a link do the same work in turns, the link in a process of its own, as the nodes see
 * it. Each figure is the median of the rounds; the ratio is the median of the ratios of one round.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { openLink } from '../../../../scripts/link/link.ts';
import { dismissReaper, makeTempDir } from '../../../../scripts/stack/parts.ts';
import { openRedis } from '../../../../scripts/stack/redis.ts';

const WORK = [
  { how: 'one at a time', inFlight: 1, operations: 4_000 },
  { how: '50 in flight', inFlight: 50, operations: 60_000 },
];

if (process.send) {
  const link = await openLink(process.argv[2] as string);
  process.send(link.url);
  await once(process, 'disconnect');
  await link.close();
} else {
  const temp = makeTempDir();
  const server = await openRedis(process.env['REDIS_URL'], temp);
  const child = fork(fileURLToPath(import.meta.url), [server.url]);
  const [url] = (await once(child, 'message')) as [string];
  const [direct, linked] = [new Redis(server.url), new Redis(url)];
  for (const { how, inFlight, operations } of WORK) {
    const rounds: { without: number; through: number }[] = [];
    // The first two rounds warm up.
    for (let round = -2; round < Number(process.argv[2] ?? 15); round += 1) {
      const pair = {
        without: await pace(direct, operations, inFlight),
        through: await pace(linked, operations, inFlight),
      };
      if (round >= 0) rounds.push(pair);
    }
    const middle = (of: (pair: (typeof rounds)[number]) => number) =>
      rounds.map(of).toSorted((a, b) => a - b)[rounds.length >> 1] ?? Number.NaN;
    const [without, through] = [middle((pair) => pair.without), middle((pair) => pair.through)];
    const ratio = middle((pair) => pair.through / pair.without);
    console.log(
      `${how}: ${without.toFixed(0)} operations/s without, ${through.toFixed(0)} with, ratio ${ratio.toFixed(2)}`,
    );
  }
  for (const client of [direct, linked]) client.disconnect();
  child.disconnect();
  await server.part?.stop();
  temp.remove();
  await dismissReaper();
}

/** SETs and GETs in turn, so many a second. */
async function pace(redis: Redis, operations: number, inFlight: number): Promise<number> {
  let sent = 0;
  async function loop() {
    while (sent < operations) {
      sent += 1;
      if (sent % 2 === 0) await redis.set('cost', sent);
      else await redis.get('cost');
    }
  }
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: inFlight }, loop));
  return operations / ((performance.now() - startedAt) / 1_000);
}
