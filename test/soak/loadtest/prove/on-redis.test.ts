// The counterexamples of the search, replayed on a real server by real processes.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { replayOnRedis } from '../../../../loadtest/prove/on-redis.ts';
import { type Cell, proveCell } from '../../../../prove/cell.ts';
import type { Step } from '../../../../prove/state.ts';
import { projectDir } from '../../../../scripts/stack/parts.ts';
import { makeBarePath } from '../../../loadtest/commands/command-under-test.ts';

/** One for each kind of fault. */
const found: [lock: string, scope: string][] = [
  ['locks/3-spin', 'crashed-holder'],
  ['locks/4-ttl', 'slow-holder'],
  ['locks/5-owner-check', 'late-release'],
  ['locks/7-reentrant', 'paused-process'],
  ['locks/8-auto-renew', 'late-write'],
  ['locks/8-auto-renew', 'failover'],
  ['locks/beyond/fenced-writes', 'crossed-write'],
];
/** A lock that not every server can carry. */
const lackable: [lock: string, scope: string] = ['locks/beyond/delete-if-equal', 'long-sale'];

const temp = mkdtempSync(join(tmpdir(), 'on-redis-'));
const cells = new Map<string, Cell>();
beforeAll(async () => {
  vi.stubEnv('TMPDIR', temp);
  for (const [lock, scope] of [...found, lackable]) {
    const file = join(projectDir, `${lock}.ts`);
    const size = { processes: 2, sales: 1, masters: 0, budget: {}, isSplit: false, seconds: 60 };
    cells.set(`${lock} ${scope}`, await proveCell({ stage: lock, file, scope, ...size }));
  }
});

/** The cell that the search has proved. */
function cellOf([lock, scope]: [string, string]): Cell & { counterexample: Step[] } {
  const cell = cells.get(`${lock} ${scope}`);
  if (cell?.counterexample === undefined) throw new Error(`No counterexample was found for ${lock}, ${scope}.`);
  return { ...cell, counterexample: structuredClone(cell.counterexample) };
}

const replay = (lock: string, cell: Cell) => replayOnRedis(cell, join(projectDir, `${lock}.ts`));
const slowHolder = () => cellOf(['locks/4-ttl', 'slow-holder']);

afterAll(() => {
  const left = readdirSync(temp).filter((name) => name.startsWith('lockstep-'));
  rmSync(temp, { recursive: true });
  vi.unstubAllEnvs();
  expect(left).toEqual([]);
});

describe('on a real server', () => {
  test.each(found)('%s, %s: it goes the same way', async (lock, scope) => {
    const server = expect.stringMatching(/^(Redis|Valkey) \d/);
    expect(await replay(lock, cellOf([lock, scope]))).toEqual({ server, times: 1 });
  });

  test.each<[string, number, Partial<Step>, string]>([
    ['a reply', 9, { reply: 'null' }, 'Step 9: the reply is "OK" instead of null.'],
    ['what is left out', 7, { told: [] }, 'Step 10: A tells "wrote 9" instead of: tells "released".'],
  ])('%s is another one: that is told, with its step', async (_what, number, change, differs) => {
    const cell = slowHolder();
    Object.assign(cell.counterexample[number - 1] as Step, change);

    expect(await replay('locks/4-ttl', cell)).toMatchObject({ times: 0, differs });
  });
});

test('without a redis-server the embedded Valkey takes its place, which knows every command and no failover', async () => {
  const bare = makeBarePath();
  const { PATH } = process.env;
  vi.stubEnv('PATH', bare.path);
  onTestFinished(() => {
    vi.stubEnv('PATH', PATH);
    bare.remove();
  });
  const server = expect.stringMatching(/^the embedded Valkey \d/);

  expect(await replay('locks/4-ttl', slowHolder())).toEqual({ server, times: 1 });
  expect(await replay(lackable[0], cellOf(lackable))).toEqual({ server, times: 1 });
  expect(await replay('locks/8-auto-renew', cellOf(['locks/8-auto-renew', 'failover']))).toMatchObject({
    times: 0,
    differs: expect.stringMatching(/the embedded Valkey \S+ knows no replication/),
  });
});
