import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { writeReport } from '../../../loadtest/report/write.ts';
import { sampleProof } from '../prove/sample-proof.ts';
import { sampleResults, sampleWithSteps } from './sample-results.ts';

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

test('writeReport shows the marks of a proof in the page', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'lockstep-report-'));
  onTestFinished(() => rm(dir, { recursive: true }));

  await writeReport(
    sampleWithSteps((results) => {
      results.stages = results.stages.slice(6, 7);
      for (const stage of results.stages) stage.drills = stage.drills.filter(({ drill }) => drill === 'late-release');
    }),
    dir,
    sampleProof(),
  );

  expect(await readFile(join(dir, 'report.html'), 'utf8')).toContain('<span class="proved">');
});
