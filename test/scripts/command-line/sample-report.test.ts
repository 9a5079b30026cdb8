import { expect, test } from 'vitest';
import { Interrupted } from '../../../loadtest/run/cells.ts';
import { cellsOf, drillsOf } from '../../../loadtest/run/tracks.ts';
import { sampleReport } from '../../../scripts/command-line/sample-report.ts';

const rush = drillsOf('locks').filter(({ name }) => name === 'rush');
const cells = cellsOf('locks', ['0-none', '2-recursive-retry'], rush);

test('a sample report: says what happened, and which command made it', async () => {
  const report = await sampleReport('page', cells, new AbortController().signal);

  expect(report).toMatch(/Without a lock \d+ of 60 units were sold twice; under stage 2, none\./);
  expect(report).toContain('page');
});

test('a sample report: an interruption ends it', async () => {
  const stopping = new AbortController();
  const report = sampleReport('page', cells, stopping.signal);
  stopping.abort(new Interrupted('It was interrupted.'));

  await expect(report).rejects.toThrow('It was interrupted.');
});
