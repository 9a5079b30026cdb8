import { describe, expect, test } from 'vitest';
import { withFigures, withoutFigures } from '../../../loadtest/figures/documents.ts';
import type { FiguresRecord } from '../../../loadtest/figures/record.ts';
import { drillResult, rushFigures } from './made-up.ts';

const rush = (stage: string, throughput: number) => ({
  stage,
  result: { ...drillResult, figures: { ...rushFigures, throughput } },
});

const record: FiguresRecord = {
  format: 1,
  runs: {
    'staircase-beyond': {
      command: 'npm run staircase -- --beyond',
      startedAt: '2026-11-23T03:41:19.000Z',
      durationMs: 576_000,
      machine: { node: 'v20.20.2', os: 'Linux 6 x64', cpus: '2 × AMD EPYC', commit: 'abc1234', load: 3.4 },
      servers: ['redis 7.0.15 (native)'],
    },
  },
  staircase: { cells: [rush('8-auto-renew', 531.2), rush('fair', 957)], signs: { fair: { rush: '✔', failover: '✘' } } },
};
const update = (document: string) => withFigures(document, record, 'page.md');

describe('figures in a document', () => {
  test('a table: each row that was measured, in the order that is asked for, and what it was measured on', () => {
    const updated = update(
      'Before.\n\n<!-- figures: rush fair,8-auto-renew,cohort -->\nold\n<!-- /figures -->\n\nAfter.\n',
    );

    expect(updated).toBe(`Before.

<!-- figures: rush fair,8-auto-renew,cohort -->

| lock           | sales per second | p50    | p99   | Redis commands a sale |
| -------------- | ---------------- | ------ | ----- | --------------------- |
| \`fair\`         | 957              | 1.2 ms | 1.3 s | 9.0                   |
| \`8-auto-renew\` | 531              | 1.2 ms | 1.3 s | 9.0                   |

_From \`npm run staircase -- --beyond\` on 23 November 2026; the load of the machine was 3.4 when it began._

<!-- /figures -->

After.
`);
    expect(update(updated)).toBe(updated);
  });

  test('by speed: the fastest first', () => {
    const updated = update('<!-- figures: rush 8-auto-renew,fair by-speed -->\n<!-- /figures -->');

    expect(updated.indexOf('`fair`')).toBeGreaterThan(-1);
    expect(updated.indexOf('`fair`')).toBeLessThan(updated.indexOf('`8-auto-renew`'));
  });

  test('in a sentence: one figure, and the rest of the line stays', () => {
    expect(update('It sells <!-- figures: rush fair throughput -->1<!-- /figures --> a second.')).toBe(
      'It sells <!-- figures: rush fair throughput -->957<!-- /figures --> a second.',
    );
  });

  test('what was not measured is said not to be, and never 0', () => {
    const inline = '<!-- figures: rush cohort p99 -->0<!-- /figures -->';
    const table = '<!-- figures: rush cohort -->\n<!-- /figures -->';

    expect(update(inline)).toContain('-->not measured<!--');
    expect(update(table)).toContain('_Not measured yet._');
    expect(update('<!-- figures: matrix -->\n<!-- /figures -->')).toContain('_Not measured yet._');
  });

  test.each([
    [
      'an unknown table',
      '<!-- figures: speed -->\n<!-- /figures -->',
      'page.md asks for speed: there is no such table',
    ],
    [
      'a table in a sentence',
      '<!-- figures: matrix --><!-- /figures -->',
      'page.md asks for matrix: there is no such figure',
    ],
    ['an unknown lock', '<!-- figures: rush fare -->\n<!-- /figures -->', 'there is no strategy fare'],
    ['an unknown figure', '<!-- figures: rush fair p50ms --><!-- /figures -->', 'there is no figure of a rush: p50ms'],
    ['an unknown run', '<!-- figures: took proof --><!-- /figures -->', 'there is no run proof'],
    ['an unknown drill', '<!-- figures: story 4-ttl rash -->\n<!-- /figures -->', 'there is no drill rash'],
    [
      'an unknown bench lock',
      '<!-- figures: bench 100 fare -->\n<!-- /figures -->',
      'there is no lock in the bench: fare',
    ],
    ['no end', 'a <!-- figures: matrix -->\n', 'page.md has a figure without an end'],
    ['no beginning', 'a <!-- /figures -->', 'page.md has a figure without an end'],
    ['a figure in a figure', '<!-- figures: matrix -->\n<!-- figures: states -->1<!-- /figures -->', 'without an end'],
  ])('%s is refused', (_case, document, problem) => {
    expect(() => update(document)).toThrow(problem);
  });

  test('what is written by hand is the document without them', () => {
    expect(withoutFigures('a <!-- figures: rush fair p50 -->1<!-- /figures --> b')).toBe('a  b');
  });

  test('a story: what the terminal shows, without its colours', () => {
    const updated = update('<!-- figures: story 8-auto-renew rush -->\n<!-- /figures -->');

    expect(updated).toContain('```text\nStage 8 · auto-renew\n  Problem  ');
    expect(updated).toContain('531 sales/s · p50 1.2 ms, p99 1,300 ms · 9.0 Redis commands a sale\n```');
  });
});
