import { expect, test } from 'vitest';
import { withFigures } from '../../../loadtest/figures/documents.ts';
import type { FiguresRecord } from '../../../loadtest/figures/record.ts';
import { drillResult, rushFigures } from './made-up.ts';

const rush = (stage: string, throughput: number) => ({
  stage,
  result: { ...drillResult, figures: { ...rushFigures, throughput } },
});

const run = {
  ...{ command: 'npm run staircase -- --beyond', startedAt: '2026-11-23T03:41:19.000Z', durationMs: 576_000 },
  machine: { node: 'v20.20.2', os: 'Linux 6 x64', cpus: '2 × AMD EPYC', commit: 'abc1234', load: 3.4 },
  servers: ['redis 7.0.15 (native)'],
};
const record: FiguresRecord = {
  format: 1,
  runs: { 'staircase-beyond': run },
  staircase: { cells: [rush('8-auto-renew', 531.2), rush('fair', 957)], signs: { fair: { rush: '✔', failover: '✘' } } },
};
const update = (document: string) => withFigures(document, record, 'page.md');

test('a page: a table and a figure in a sentence are put right; the rest stays, and what was not measured is not 0', () => {
  const asked = (figure: string, value: string) => `It sells <!-- figures: ${figure} -->${value}<!-- /figures -->.`;
  const updated = update(`Before.\n\n<!-- figures: rush fair,cohort -->\nold\n<!-- /figures -->\n\nAfter.\n`);

  expect(updated).toMatch(/^Before\.\n.*\| `fair` +\| 957 +\| 1\.2 ms \|.*\nAfter\.\n$/s);
  expect(updated).not.toMatch(/old|cohort` /);
  expect(update(updated)).toBe(updated);
  expect(update(asked('rush fair throughput', '1'))).toBe(asked('rush fair throughput', '957'));
  expect(update(asked('rush cohort p99', '0'))).toBe(asked('rush cohort p99', 'not measured'));
  expect(() => update('<!-- figures: speed -->\n<!-- /figures -->')).toThrow(
    'page.md asks for speed: there is no such',
  );
});
