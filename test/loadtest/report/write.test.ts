import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { writeReport } from '../../../loadtest/report/write.ts';
import { sampleProof } from '../prove/sample-proof.ts';
import { sampleWithSteps } from './sample-results.ts';

test('writeReport leaves a page, with the marks of a proof, and a text in the folder, which it makes', async () => {
  const root = await mkdtemp(join(tmpdir(), 'lockstep-report-'));
  onTestFinished(() => rm(root, { recursive: true }));
  const dir = join(root, 'reports', 'now');
  const results = sampleWithSteps(({ stages }) => {
    for (const stage of stages) stage.drills = stage.drills.filter(({ drill }) => drill === 'slow-holder');
  });
  const proof = sampleProof(({ cells }) => {
    for (const cell of cells) cell.drill = 'slow-holder';
  });

  await writeReport(results, dir, proof);

  expect((await readdir(dir)).sort()).toEqual(['report.html', 'report.md']);
  expect(await readFile(join(dir, 'report.html'), 'utf8')).toMatch(
    /^<!doctype html>.*<span class="proved">.*<\/html>\n$/s,
  );
  expect(await readFile(join(dir, 'report.md'), 'utf8')).toMatch(/^# As taught\n/);
});
