// One turn of the bench without HTTP: two processes of waiters for one lock.

import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { isInBuckets } from '../../locks/index.ts';
import { countCommands } from '../../services/inventory/servers/redis-info.ts';
import { nameInBucket, stockKey } from '../../services/inventory/servers/store.ts';
import { inventorySettings } from '../../services/inventory/settings/settings.ts';
import { nodeArgs } from '../../stack/parts.ts';
import { sum } from '../narration/numbers.ts';
import { type Contestant, letsOneInAtATime, strategyOf } from './contestants.ts';
import { redisCpu } from './cpu-time.ts';
import { figuresOf } from './figures.ts';
import type { TurnFigures } from './results.ts';
import type { Counted, WaitersOptions } from './waiters.ts';

/** The units in stock at the beginning of a turn, in each bucket: nobody can sell as many. */
const UNITS = 1_000_000_000;
/** How long the processes may take to be ready, and to end their last sections, in milliseconds. */
const READY_LIMIT_MS = 20_000;
const STOP_LIMIT_MS = 10_000;
/** The window opens when as many sections have run as there are waiters, but not before the first and not after the second, in milliseconds. */
const WARM_UP_LEAST_MS = 2_000;
const WARM_UP_MOST_MS = 5_000;
const LOOK_EVERY_MS = 50;

interface TurnOptions {
  contestant: Contestant;
  /** How many waiters each of two processes has. */
  waiters: number;
  seconds: number;
  /** The settings of a node: its servers, the lease and the delay between two tries. */
  env: NodeJS.ProcessEnv;
  /** Redis tells how much CPU time it has used. The embedded Valkey does not. */
  tellsCpu: boolean;
  signal: AbortSignal;
}

/**
 * Measures one lock once, in processes of its own, with keys of its own. Rejects with a sentence when a process ends
 * or does not answer, and when `signal` aborts.
 */
export async function runTurn(options: TurnOptions): Promise<TurnFigures> {
  const { contestant, waiters, seconds, tellsCpu, signal } = options;
  const env: NodeJS.ProcessEnv = { ...options.env, ...(contestant.buckets && { BUCKETS: String(contestant.buckets) }) };
  const asking = 2 * waiters;
  const urls = [env['REDIS_URL'], ...(env['REDLOCK_URLS']?.split(',') ?? [])];
  const clients = urls.map((url) => new Redis(url ?? ''));
  const children: ChildProcess[] = [];
  const over = new AbortController();
  const cancel = AbortSignal.any([signal, over.signal]);

  try {
    const turn = `bench-${randomUUID()}`;
    const stock = stockOf(turn, isInBuckets(strategyOf(contestant.name)) ? inventorySettings.parse(env).BUCKETS : 1);
    const given = { lock: contestant.name, waiters: asking / contestant.processes, env, sku: turn };
    await clients[0]?.mset(...stock.flatMap((key) => [key, UNITS]));
    for (let process = 0; process < contestant.processes; process += 1) children.push(startWaiters(given));
    for (const child of children) void lastWords(child).then((words) => over.abort(new Error(words)));

    await within(READY_LIMIT_MS, 'ready', answers());
    send('start');
    const startedAt = performance.now();
    await sleep(WARM_UP_LEAST_MS, undefined, { signal: cancel });
    while ((await soldSoFar()) < asking && performance.now() < startedAt + WARM_UP_MOST_MS) {
      await sleep(LOOK_EVERY_MS, undefined, { signal: cancel });
    }

    send('measure');
    const before = await snapshot(clients, stock, tellsCpu);
    await sleep(seconds * 1_000, undefined, { signal: cancel });
    const after = await snapshot(clients, stock, tellsCpu);
    const ends = answers();
    send('stop');
    const counted = (await within(STOP_LIMIT_MS, 'at its end', ends)) as Counted[];
    const hasQueue = letsOneInAtATime(contestant.name);
    return figuresOf({ asking, hasQueue, counted, before, after, finalCount: await soldSoFar() });

    async function soldSoFar() {
      return soldOf((await clients[0]?.mget(stock)) ?? []);
    }
  } catch (error) {
    if (cancel.aborted) throw cancel.reason;
    throw error;
  } finally {
    for (const child of children) child.kill('SIGKILL');
    await Promise.all(children.map((child) => child.exitCode ?? child.signalCode ?? once(child, 'exit')));
    for (const client of clients) client.disconnect();
  }

  function send(message: string) {
    for (const child of children) child.send(message);
  }

  /** Resolves with the next message of every process. */
  function answers() {
    return Promise.all(children.map(async (child) => (await once(child, 'message', { signal: cancel }))[0]));
  }

  async function within<T>(limitMs: number, what: string, promise: Promise<T>): Promise<T> {
    const timer = setTimeout(() => over.abort(new Error(`The lock was not ${what} within ${limitMs} ms.`)), limitMs);
    return promise.finally(() => clearTimeout(timer));
  }
}

/** A process of its own group: Ctrl-C reaches this process alone. It ends by itself when this process is gone. */
function startWaiters(options: WaitersOptions) {
  return spawn(process.execPath, [...nodeArgs('loadtest/bench/waiters.ts'), JSON.stringify(options)], {
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    // A million numbers are soon read as bytes, and not as a text.
    serialization: 'advanced',
  });
}

/** Resolves when a process has ended, with a sentence: the error that it died of, if it printed any. */
async function lastWords(child: ChildProcess): Promise<string> {
  let printed = '';
  child.stderr?.on('data', (text) => {
    printed = `${printed}${text}`.slice(-4_000);
  });
  await once(child, 'close');
  const error = /^\w*Error\b.*$/m.exec(printed)?.[0];
  return `A process of the bench has ended${error ? `: ${error}` : '.'}`;
}

/** The keys of the stock: in so many buckets, as much in each. */
const stockOf = (sku: string, buckets: number) =>
  Array.from({ length: buckets }, (_, bucket) => nameInBucket(stockKey(sku), bucket));
const soldOf = (units: (string | null)[]) => sum(units.map((left) => UNITS - Number(left)));

/**
 * The sections that have written, and all commands so far but INFO, those inside scripts included, read at one moment; and the CPU time
 * of Redis.
 */
async function snapshot(clients: Redis[], stock: string[], tellsCpu: boolean) {
  const answers = await Promise.all(clients.map((client) => client.pipeline().mget(stock).info('commandstats').exec()));
  return {
    count: soldOf((answers[0]?.[0]?.[1] ?? []) as (string | null)[]),
    commands: sum(answers.map((answer) => countCommands(String(answer?.[1]?.[1])))),
    cpu: tellsCpu ? { redis: await redisCpu(clients) } : {},
  };
}
