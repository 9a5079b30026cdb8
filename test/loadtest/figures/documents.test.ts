import { expect, test } from 'vitest';
import { withFigures, withoutFigures } from '../../../loadtest/figures/documents.ts';
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

test('a table: each row that was measured, in the order that is asked for or by speed, and what it was measured on', () => {
  const asked = '<!-- figures: rush fair,8-auto-renew,cohort -->';
  const updated = update(`Before.\n\n${asked}\nold\n<!-- /figures -->\n\nAfter.\n`);
  const bySpeed = update('<!-- figures: rush 8-auto-renew,fair by-speed -->\n<!-- /figures -->');

  expect(updated).toBe(`Before.

${asked}

| lock           | sales per second | p50    | p99   | Redis commands a sale |
| -------------- | ---------------- | ------ | ----- | --------------------- |
| \`fair\`         | 957              | 1.2 ms | 1.3 s | 9.0                   |
| \`8-auto-renew\` | 531              | 1.2 ms | 1.3 s | 9.0                   |

_From \`npm run staircase -- --beyond\` on 23 November 2026; the load of the machine was 3.4 when it began._

<!-- /figures -->

After.
`);
  expect(update(updated)).toBe(updated);
  expect(bySpeed.indexOf('`fair`')).toBeLessThan(bySpeed.indexOf('`8-auto-renew`'));
});

test('in a sentence: one figure, the rest of the line stays, and what was not measured is never 0', () => {
  const asking = (figure: string, value: string) =>
    `It sells <!-- figures: ${figure} -->${value}<!-- /figures --> a second.`;

  expect(update(asking('rush fair throughput', '1'))).toBe(asking('rush fair throughput', '957'));
  expect(update(asking('rush cohort p99', '0'))).toBe(asking('rush cohort p99', 'not measured'));
  expect(withoutFigures(asking('rush fair p50', '1'))).toBe('It sells  a second.');
  for (const table of ['rush cohort', 'matrix'])
    expect(update(`<!-- figures: ${table} -->\n<!-- /figures -->`)).toContain('_Not measured yet._');
});

test.each([
  ['<!-- figures: speed -->\n<!-- /figures -->', 'page.md asks for speed: there is no such table'],
  ['<!-- figures: matrix --><!-- /figures -->', 'page.md asks for matrix: there is no such figure'],
  ['<!-- figures: rush fare -->\n<!-- /figures -->', 'there is no strategy fare'],
  ['<!-- figures: rush fair p50ms --><!-- /figures -->', 'there is no figure of a rush: p50ms'],
  ['<!-- figures: took proof --><!-- /figures -->', 'there is no run proof'],
  ['<!-- figures: story 4-ttl rash -->\n<!-- /figures -->', 'there is no drill rash'],
  ['<!-- figures: bench 100 fare -->\n<!-- /figures -->', 'there is no lock in the bench: fare'],
  ['a <!-- figures: matrix -->\n', 'page.md has a figure without an end'],
  ['a <!-- /figures -->', 'page.md has a figure without an end'],
  ['<!-- figures: matrix -->\n<!-- figures: states -->1<!-- /figures -->', 'without an end'],
])('%j is refused', (document, problem) => {
  expect(() => update(document)).toThrow(problem);
});

test('a story: what the terminal shows, without its colours', () => {
  const updated = update('<!-- figures: story 8-auto-renew rush -->\n<!-- /figures -->');

  expect(updated).toContain('```text\nStage 8 · auto-renew\n  Problem  ');
  expect(updated).toContain('531 sales/s · p50 1.2 ms, p99 1,300 ms · 9.0 Redis commands a sale\n```');
});
