import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { writeReport } from '../../../loadtest/report/write.ts';
import { sampleResults } from './sample-results.ts';

test('writeReport leaves a page and a text in the folder, which it makes', async () => {
  const root = await mkdtemp(join(tmpdir(), 'lockstep-report-'));
  onTestFinished(() => rm(root, { recursive: true }));
  const dir = join(root, 'reports', 'now');

  await writeReport(
    sampleResults((results) => {
      results.stages = [];
    }),
    dir,
  );

  expect((await readdir(dir)).sort()).toEqual(['report.html', 'report.md']);
  expect(await readFile(join(dir, 'report.html'), 'utf8')).toMatch(/^<!doctype html>.*As taught.*<\/html>\n$/s);
  expect(await readFile(join(dir, 'report.md'), 'utf8')).toMatch(/^# As taught\n/);
});
