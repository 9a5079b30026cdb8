import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { writeReport } from '../../../loadtest/report/write.ts';
import { makeTempDir } from '../../../scripts/stack/parts.ts';
import { sampleProof } from '../prove/sample-proof.ts';
import { sampleWithSteps } from './sample-results.ts';

test('writeReport leaves a page, with the marks of a proof, and a text in the folder, which it makes', async () => {
  const { dir, remove } = makeTempDir();
  onTestFinished(remove);
  const folder = join(dir, 'reports', 'now');
  const results = sampleWithSteps(({ stages }) => stages.splice(0, 6));
  const proof = sampleProof(({ cells }) => Object.assign(cells[0] ?? {}, { drill: 'slow-holder' }));

  await writeReport(results, folder, proof);

  expect(readFileSync(join(folder, 'report.html'), 'utf8')).toMatch(/^<!doctype html>.*class="proved".*<\/html>\n$/s);
  expect(readFileSync(join(folder, 'report.md'), 'utf8')).toMatch(/^# As expected\n/);
});
