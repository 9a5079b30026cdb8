import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type OnRedisOptions, replayOnRedis } from '../../../../loadtest/prove/on-redis.ts';
import { type Cell, proveCell } from '../../../../prove/cell.ts';
import type { Step } from '../../../../prove/state.ts';
import { makeTempDir, projectDir } from '../../../../scripts/stack/parts.ts';
import { openRedis } from '../../../../scripts/stack/redis.ts';
import { lackOfDeleting, lacksDeleting } from '../../../lacks-deleting.ts';
import { makeBarePath } from '../../../loadtest/commands/command-under-test.ts';

/** A lock, a scope, how many processes, and what the search finds. */
const found: [string, string, number, string][] = [
  ['locks/3-spin', 'crashed-holder', 2, 'Nobody has entered within two leases (1800 ms) of the crash.'],
  ['locks/4-ttl', 'slow-holder', 2, 'A changes the lock of B, which is inside and within its lease.'],
  ['locks/5-owner-check', 'late-release', 2, 'A changes the lock of B, which is inside and within its lease.'],
  ['locks/6-lua-release', 'long-sale', 2, 'A and B are inside at the same time.'],
  ['locks/7-reentrant', 'paused-process', 2, '2 were sold of 10, and 9 are left: 1 lost.'],
  ['locks/8-auto-renew', 'paused-process', 2, '2 were sold of 10, and 9 are left: 1 lost.'],
  ['locks/8-auto-renew', 'late-write', 2, '2 were sold of 10, and 9 are left: 1 lost.'],
  ['locks/8-auto-renew', 'failover', 2, 'A and B are inside at the same time.'],
  ['locks/beyond/fenced-writes', 'crossed-write', 2, '2 were sold of 10, and 9 are left: 1 lost.'],
  ['locks/beyond/blocking', 'crossed-write', 2, '2 were sold of 10, and 9 are left: 1 lost.'],
  ['test/loadtest/prove/enters-when-woken', 'plain', 3, 'B and C are inside at the same time.'],
];

/** A lock that not every server can carry. */
const lackable = 'locks/beyond/delete-if-equal';

const fileOf = (lock: string) => join(projectDir, `${lock}.ts`);
const cells = new Map<string, Cell>();
const temp = mkdtempSync(join(tmpdir(), 'on-redis-'));

/** The cell that the search has proved. */
function cellOf(lock: string, scope: string): Cell & { counterexample: Step[] } {
  const cell = cells.get(`${lock} ${scope}`);
  if (cell?.counterexample === undefined) throw new Error(`No counterexample was found for ${lock}, ${scope}.`);
  return { ...cell, counterexample: structuredClone(cell.counterexample) };
}

const places: Promise<unknown>[] = [Promise.resolve(), Promise.resolve()];
let comers = 0;

/** Replays two at a time, so that the machine has time for each. */
function replay(lock: string, cell: Cell, options?: OnRedisOptions) {
  const place = comers++ % places.length;
  const before = places[place] ?? Promise.resolve();
  const replayed = before.then(() => replayOnRedis(cell, fileOf(lock), options));
  places[place] = replayed.catch(() => {});
  return replayed;
}

const sent = (...command: (string | number)[]) => ({ server: 0, line: 'commands' as const, command, hasChanged: true });

/** The servers and processes of replays that this process has started, each with its state first. */
function running(): string[] {
  const lines = spawnSync('ps', ['-A', '-o', 'ppid=,stat=,args='], { encoding: 'utf8' }).stdout.split('\n');
  const own = lines.map((line) => line.trim()).filter((line) => Number.parseInt(line, 10) === process.pid);
  return own.filter((line) => /redis-server|valkey|seller/.test(line)).map((line) => line.replace(/^\d+ +/, ''));
}

/** The folders of replays. */
const folders = () => readdirSync(temp).filter((name) => name.startsWith('lockstep-'));

beforeAll(async () => {
  vi.stubEnv('TMPDIR', temp);
  for (const [lock, scope, processes] of [...found, [lackable, 'long-sale', 2] as const]) {
    const cell = { stage: lock, file: fileOf(lock), scope, processes, sales: 1, masters: 0, budget: {} };
    cells.set(`${lock} ${scope}`, await proveCell({ ...cell, isSplit: false, seconds: 60 }));
  }
});

afterAll(() => {
  const left = [...running(), ...folders()];
  rmSync(temp, { recursive: true });
  vi.unstubAllEnvs();
  expect(left).toEqual([]);
});

describe.concurrent('on Redis: a counterexample goes the same way on a real server', () => {
  test.each(found)('%s, %s', async (lock, scope, _processes, reason) => {
    const cell = cellOf(lock, scope);

    expect(cell.reason).toBe(reason);
    expect(await replay(lock, cell)).toEqual({ server: expect.stringMatching(/^(Redis|Valkey) \d/), times: 1 });
  });
});

describe.concurrent('on Redis: what goes another way is told, with its step', () => {
  const tampered: [string, number, Partial<Step>, string][] = [
    ['a reply', 9, { reply: 'null' }, 'Step 9: the reply is "OK" instead of null.'],
    [
      'a stock',
      3,
      { told: [{ at: 0, sale: 1, step: 'read', stock: 11 }] },
      'Step 3: A tells "read 10" instead of: tells "read 11".',
    ],
    ['what is left out', 7, { told: [] }, 'Step 10: A tells "wrote 9" instead of: tells "released".'],
    ['a command', 7, { sent: sent('SET', 'stock', 8) }, 'Step 3: A sends SET stock 9 instead of SET stock 8.'],
  ];

  test.each(tampered)('%s', async (_what, number, change, difference) => {
    const cell = cellOf('locks/4-ttl', 'slow-holder');
    Object.assign(cell.counterexample[number - 1] as Step, change);

    const { times, differs } = await replay('locks/4-ttl', cell);

    expect(times).toBe(0);
    expect(differs).toBe(difference);
  });

  test('the order: what was written before it is read loses no sale', async () => {
    const cell = cellOf('locks/beyond/fenced-writes', 'crossed-write');
    const steps = cell.counterexample;
    const write = steps.findIndex(({ kind }) => kind === 'let go');
    steps.splice(write - 1, 2, steps[write] as Step, steps[write - 1] as Step);

    const { times, differs } = await replay('locks/beyond/fenced-writes', cell);

    expect(times).toBe(0);
    expect(differs).toBe('Step 16: the reply is "9" instead of "10".');
  });

  test('the lock: under a stage that mends it, the counterexample of the stage before does not happen', async () => {
    const { times, differs } = await replay('locks/6-lua-release', cellOf('locks/5-owner-check', 'late-release'));

    expect(times).toBe(0);
    expect(differs).toMatch(/^Step 4: A sends EVALSHA .* instead of GET lock\.$/);
  });
});

describe('on Redis: its end', () => {
  test('a replay that is stopped leaves nothing behind, not even a process that is paused', async () => {
    const stopping = new AbortController();
    const replayed = replay('locks/7-reentrant', cellOf('locks/7-reentrant', 'paused-process'), {
      signal: stopping.signal,
    });
    const isPaused = () => running().some((line) => /^T.*seller/.test(line));
    while (!isPaused()) await sleep(20);

    stopping.abort(new Error('stopped by a test'));

    await expect(replayed).rejects.toThrow('stopped by a test');
    expect([...running(), ...folders()]).toEqual([]);
  });

  test('a lock that asks several servers is not replayed, and that is no pass', async () => {
    const cell = { ...cellOf('locks/4-ttl', 'slow-holder'), masters: 3 };

    expect(await replay('locks/4-ttl', cell)).toEqual({
      server: 'no server',
      times: 0,
      differs: 'It cannot be replayed on a real server: its lock asks several servers.',
    });
  });

  test('a lock whose commands the server lacks is not replayed, and that is no pass', async ({ skip }) => {
    const { dir, remove } = makeTempDir();
    const { url, part } = await openRedis(undefined, { dir });
    const isLacking = await lacksDeleting(url);
    await part?.stop();
    remove();
    skip(!isLacking);

    const { server, times, differs } = await replay(lackable, cellOf(lackable, 'long-sale'));

    expect({ server, times }).toEqual({ server: expect.stringMatching(/^(Redis|Valkey) \d/), times: 0 });
    const why = /^It cannot be replayed on a real server: (.*)$/.exec(differs ?? '')?.[1];
    expect(why).toMatch(lackOfDeleting);
  });
});

describe('on Redis: without a redis-server', () => {
  const { PATH } = process.env;
  const bare = makeBarePath();
  // The stub of TMPDIR stays.
  beforeAll(() => void vi.stubEnv('PATH', bare.path));
  afterAll(() => {
    vi.stubEnv('PATH', PATH);
    bare.remove();
  });

  test('the embedded Valkey takes its place', async () => {
    const replayed = await replay('locks/4-ttl', cellOf('locks/4-ttl', 'slow-holder'));

    expect(replayed).toEqual({ server: expect.stringMatching(/^the embedded Valkey \d/), times: 1 });
  });

  test('it has the command of a lock that an older server can’t carry', async () => {
    const replayed = await replay(lackable, cellOf(lackable, 'long-sale'));

    expect(replayed).toEqual({ server: expect.stringMatching(/^the embedded Valkey \d/), times: 1 });
  });

  test('a failover is not replayed, and that is no pass', async () => {
    const { times, differs } = await replay('locks/8-auto-renew', cellOf('locks/8-auto-renew', 'failover'));

    expect(times).toBe(0);
    expect(differs).toMatch(/^It cannot be replayed on a real server: the embedded Valkey \S+ knows no replication/);
  });
});
