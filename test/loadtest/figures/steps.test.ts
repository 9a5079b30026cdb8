import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { BenchResults } from '../../../loadtest/bench/results.ts';
import type { Results } from '../../../loadtest/evidence/results.ts';
import { blocks } from '../../../loadtest/figures/parts.ts';
import { type FiguresRecord, recordSchema } from '../../../loadtest/figures/record.ts';
import { steps } from '../../../loadtest/figures/steps.ts';
import { makeTempDir } from '../../../scripts/stack/parts.ts';
import { drillResult } from './made-up.ts';

function folderWith(file: string, content: unknown): string {
  const { dir, remove } = makeTempDir();
  onTestFinished(remove);
  writeFileSync(join(dir, file), JSON.stringify(content));
  return dir;
}

const stepNamed = (name: string) => {
  const step = steps.find((each) => each.name === name);
  if (step === undefined) throw new Error(`no step ${name}`);
  return step;
};
const empty: FiguresRecord = { format: 1, runs: {} };
const environment = {
  ...{ node: 'v20.20.2', os: 'Linux 6 x64', cpus: '2 × AMD EPYC', commit: 'abc1234', load: 0.4 },
  redis: { kind: 'native' as const, version: 'redis 7.0.15' },
  nginx: 'native 1.22.1',
  backends: { zookeeper: '3.8.0' },
};

const results: Results = {
  format: 1,
  command: 'npm run staircase -- --beyond --reports /home/me/reports',
  startedAt: '2026-11-23T03:41:19.000Z',
  durationMs: 576_000,
  ...{ verdict: 'as-taught', verdictReasons: [], leftOut: [], environment },
  settings: { requests: 2000, connections: 100, stock: 5000, units: 1000, leaseMs: 1000 },
  stages: [
    { stage: '8-auto-renew', lockVersion: 8, drills: [{ ...drillResult, witnesses: ['one', 'two'], witnessCount: 2 }] },
    { stage: 'fair', lockVersion: null, drills: [{ ...drillResult, verdict: 'unknown' }] },
  ],
};

const turn = (round: number, name: string, perSecond: number, lostUpdates = 0): BenchResults['turns'][number] => ({
  round,
  waiters: 100,
  name,
  figures: {
    ...{ perSecond, commandsPerAcquisition: 14, sections: 1000, lostUpdates, starved: round, errors: 0 },
    waitMs: { p50: 100, p99: 200, max: 240 },
  },
});
const bench: BenchResults = {
  format: 1,
  command: 'npm run bench -- --only blocking,fair,cohort',
  startedAt: '2026-11-23T05:09:49.000Z',
  durationMs: 360_000,
  mode: 'locks',
  environment: { ...environment, nginx: 'none', backends: {} },
  settings: { rounds: 3, seconds: 3, waiters: [100], leaseMs: 30_000, retryDelayMs: 20, spinners: null },
  contestants: ['blocking', 'fair', 'cohort'].map((name) => ({ name, kind: 'ours' })),
  turns: [
    turn(1, 'blocking', 100),
    turn(2, 'blocking', 900),
    turn(3, 'blocking', 200),
    turn(1, 'fair', 5000, 7),
    { round: 1, waiters: 100, name: 'cohort', failure: 'The process died.' },
  ],
  ratios: { 'blocking/commands@100': { value: 14, min: 13, max: 15 } },
};

test('figures, staircase: a rush that is unknown has no figures, its sign stays, and so does no path', () => {
  const { runs, staircase } = stepNamed('staircase-beyond').keep(empty, folderWith('results.json', results));

  expect(staircase?.cells).toEqual([
    { stage: '8-auto-renew', result: { ...drillResult, witnesses: ['one'], witnessCount: 2, stockOverTime: [] } },
  ]);
  expect(staircase?.signs).toEqual({ '8-auto-renew': { rush: '✔' }, fair: { rush: '?' } });
  expect(runs['staircase-beyond']?.command).toBe('npm run staircase -- --beyond');
});

test('figures, bench: the median of the rounds; a lock that was not alone, or could not be measured, is in no table', () => {
  const record = stepNamed('bench').keep(empty, folderWith('bench.json', bench));

  expect(record.bench?.rows.map(({ name, perSecond, starved }) => [name, perSecond, starved])).toEqual([
    ['blocking', { value: 200, min: 100, max: 900 }, 3],
    ['fair', { value: 5000, min: 5000, max: 5000 }, 1],
  ]);
  const table = blocks['bench']?.(record, '100', 'fair,cohort,blocking') ?? '';
  expect(table).toContain('| `blocking` | 200 (100–900)');
  expect(table).not.toContain('5,000');
  expect(table).not.toContain('cohort');
  expect(recordSchema.parse(JSON.parse(JSON.stringify(record)))).toEqual(record);
});
