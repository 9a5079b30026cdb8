// Counts the Redis commands of a published lock: while it is held, while another waits, and after its release.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { dismissReaper, makeTempDir, nodeArgs, projectDir } from '../../scripts/stack/parts.ts';
import { openRedis, type RedisServer } from '../../scripts/stack/redis.ts';
import { MASTERS } from '../../scripts/stack/stack.ts';
import { countCommands as countIn } from '../../services/inventory/redis-info.ts';
import type { Commands } from '../evidence/verdicts.ts';
import { peers } from '../peers/peer.ts';
import type { CommandsTask, Order } from './commands-process.ts';

/** The lease of the drills that go step by step, two longer ones, and the usual one, in milliseconds. */
const LEASES_MS = [1_000, 1_250, 3_000, 30_000];
const RETRY_DELAY_MS = 20;
const WAITERS = 20;
/** How long commands are counted, in milliseconds: two such windows are over before a lease that nobody renews. */
const WINDOW_MS = 2_000;
const windowOf = (leaseMs: number) => Math.min(WINDOW_MS, 0.4 * leaseMs);
const AFTER_MS = 1_000;
/** How long a step may take, and all waiters together, in milliseconds. */
const STEP_LIMIT_MS = 15_000;

/** Starts servers of its own, and counts there. Rejects with a sentence when the lock can't be held. */
export async function countCommands(name: string, signal: AbortSignal): Promise<Commands[]> {
  const temp = makeTempDir();
  const servers: RedisServer[] = [];
  try {
    const count = peers[name]?.hasMasters ? 1 + MASTERS : 1;
    for (let server = 0; server < count; server += 1) servers.push(await openRedis(undefined, { dir: temp.dir }));
    const urls = servers.map(({ url }) => url);
    const counted: Commands[] = [];
    for (const leaseMs of LEASES_MS) counted.push(await countAt(leaseMs, name, urls, signal));
    return counted;
  } finally {
    for (const { part } of servers) await part?.stop();
    temp.remove();
    await dismissReaper();
  }
}

async function countAt(leaseMs: number, name: string, urls: string[], signal: AbortSignal): Promise<Commands> {
  const [redisUrl = '', ...masterUrls] = urls;
  const key = `{verdicts}:${leaseMs}:lock`;
  const task: CommandsTask = {
    name,
    redisUrl,
    masterUrls,
    key,
    leaseMs,
    retryDelayMs: RETRY_DELAY_MS,
    waiters: WAITERS,
  };
  const [script = '', ...execArgv] = nodeArgs('loadtest/verdicts/commands-process.ts').toReversed();
  const child = fork(script, [JSON.stringify(task)], {
    execArgv: execArgv.toReversed(),
    stdio: 'ignore',
    cwd: projectDir,
  });
  const clients = urls.map((url) => new Redis(url));
  const ended = once(child, 'exit').then(() => {
    throw new Error(`${name} has ended its process.`);
  });
  ended.catch(() => {});

  try {
    await answer('ready');
    await tell('hold');
    const windowMs = windowOf(leaseMs);
    const held = await commandsIn(windowMs);
    await tell('wait');
    const waiting = await commandsIn(windowMs);
    await tell('leave');
    // The one that waits has its turn.
    await sleep(AFTER_MS, undefined, { signal });
    const afterRelease = await commandsIn(AFTER_MS);
    const before = await commandsSoFar();
    const hasAllHad = await tell('queue').then(
      () => true,
      () => false,
    );
    const commandsEach = (await commandsSoFar()) - before;
    return {
      leaseMs,
      held: (held * 1_000) / windowMs,
      waiting: (waiting * 1_000) / windowMs,
      afterRelease: (afterRelease * 1_000) / AFTER_MS,
      ...(hasAllHad && { queue: { waiters: WAITERS, commandsEach: commandsEach / WAITERS } }),
    };
  } finally {
    child.kill('SIGKILL');
    for (const client of clients) client.disconnect();
  }

  function tell(order: Order) {
    child.send(order);
    return answer('done');
  }

  async function answer(expected: string) {
    const limit = sleep(STEP_LIMIT_MS, undefined, { ref: false }).then(() => {
      throw new Error(`${name} took longer than ${STEP_LIMIT_MS} ms.`);
    });
    limit.catch(() => {});
    const [message] = await Promise.race([once(child, 'message'), ended, limit]);
    if (message !== expected) throw new Error(`${name}: ${message}`);
  }

  async function commandsIn(ms: number): Promise<number> {
    const before = await commandsSoFar();
    await sleep(ms, undefined, { signal });
    return (await commandsSoFar()) - before;
  }

  async function commandsSoFar(): Promise<number> {
    const counts = await Promise.all(clients.map(async (client) => countIn(await client.info('commandstats'))));
    return counts.reduce((sum, count) => sum + count, 0);
  }
}
