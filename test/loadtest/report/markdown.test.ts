import { expect, test } from 'vitest';
import { renderMarkdown } from '../../../loadtest/report/markdown.ts';
import { judgeRun } from '../../../loadtest/staircase/judge-run.ts';
import { cellOf, sampleResults, sampleWithSteps } from './sample-results.ts';
import { stageDrillNames } from './sample-steps.ts';

/** Every table of the text: the cells of its rows, the rule left out. Fails on a table that is not well formed. */
function tablesOf(markdown: string): string[][][] {
  return markdown
    .split('\n\n')
    .filter((block) => block.startsWith('|'))
    .map((block) => {
      const [head = [], rule = [], ...rows] = block
        .trim()
        .split('\n')
        .map((line) => {
          expect(line).toMatch(/^\|.*\|$/);
          return line
            .slice(1, -1)
            .split(/(?<!\\)\|/)
            .map((cell) => cell.trim());
        });
      for (const row of [rule, ...rows]) expect(row).toHaveLength(head.length);
      for (const cell of rule) expect(cell).toMatch(/^-{3,}:?$/);
      return [head, ...rows];
    });
}

test('opens with the verdict, the summary and the number of cells', () => {
  expect(renderMarkdown(sampleResults())).toMatch(
    /^# As taught\n\nLockstep, .*\n\nStage 1 lost 750 of 2,000 sales on two nodes; from stage 2 on none is lost\. .*\n\n27 cells run: all as taught\.\n\n## The staircase\n/,
  );
});

test('has the staircase and a comparison for each drill', () => {
  const [staircase, oneNodeRush, rush, sellOut] = tablesOf(renderMarkdown(sampleResults()));
  expect(staircase?.[0]).toEqual(['stage', 'one-node-rush', 'rush', 'sell-out']);
  expect(staircase?.[2]).toEqual(['1-in-process', '✔ 0 lost', '✘ 750 lost', '✘ 508 oversold']);
  expect(oneNodeRush).toHaveLength(10);
  expect(rush?.[0]).toEqual([
    'stage',
    'Sold',
    'Expected stock',
    'Final stock',
    'Lost updates',
    'Oversold',
    'Sales per second',
    'p50, ms',
    'p99, ms',
    'Redis commands per sale',
  ]);
  expect(rush?.[2]).toEqual(['1-in-process', '2,000', '3,000', '3,750', '750', '0', '2,612', '30.2', '68.2', '2.0']);
  expect(sellOut?.[2]).toEqual(['1-in-process', '1,508', '−508', '0', '508', '508', '2,612', '30.2', '68.2', '2.0']);
});

test('names the first witnesses and counts the others', () => {
  expect(renderMarkdown(sampleResults())).toContain(
    [
      '### 1-in-process rush: fail',
      '',
      'The stock is 3750 and should be 3000.',
      '',
      '- sale 0001 on node-1 and sale 0004 on node-2 both read stock 5000',
      '- sale 0003 on node-1 and sale 0006 on node-2 both read stock 4999',
      '- sale 0005 on node-1 and sale 0008 on node-2 both read stock 4998',
      '- and 372 more',
      '',
    ].join('\n'),
  );
});

test('has the figures of the drills that go step by step, and says where their timelines are', () => {
  const markdown = renderMarkdown(sampleWithSteps());
  const [staircase, ...others] = tablesOf(markdown);
  expect(staircase?.[0]?.slice(1)).toEqual(stageDrillNames);
  expect(staircase?.[4]?.slice(4, 7)).toEqual(['✔ 2 B a try', '✘ none in 2 s', '✘ none in 3 s']);
  expect(staircase?.[1]?.[4]).toBe('–');
  expect(markdown).toContain('## Step by step\n\nreport.html draws');
  const crashes = others.find(([head]) => head?.includes('Until the other node sold again'));
  expect(crashes?.[0]).toEqual(['stage', 'Until the other node sold again', 'Nobody else could enter for']);
  expect(crashes?.slice(4, 6)).toEqual([
    ['3-spin', '–', '2 s'],
    ['4-ttl', '1 s', '–'],
  ]);
  expect(markdown).toContain(
    '### 8-auto-renew paused-process: fail\n\nIt went wrong, as the timeline shows.\n\n- sale 0001',
  );
});

test('ends with the command and the environment', () => {
  expect(renderMarkdown(sampleResults()).split('## How it was run')[1]).toMatch(
    /^\n\n {4}npm start\n\n\| setting .*\| Commit +\| b4e499a +\|\n$/s,
  );
});

test('odd text stays one line and breaks no table', () => {
  const odd = '# a|b\n# <script>alert(`1`)</script> *x* [y](z) \\';
  const markdown = renderMarkdown(
    sampleResults((results) => {
      const result = cellOf(results, '0-none', 'rush');
      Object.assign(result, { drill: odd, witnesses: [odd], reasons: [odd] });
      results.verdictReasons = [odd];
      results.environment.os = odd;
    }),
  );
  const safe = '\\# a\\|b # \\<script\\>alert(\\`1\\`)\\</script\\> \\*x\\* \\[y\\](z) \\\\';
  expect(markdown.split(safe).length).toBeGreaterThan(5);
  expect(markdown).not.toMatch(/^# <|(?<!\\)<script/m);
  expect(tablesOf(markdown)[0]?.[0]?.at(-1)).toBe(safe);
});

test('shows what is absent, unknown, left out and not as taught', () => {
  const markdown = renderMarkdown(
    sampleResults((results) => {
      cellOf(results, '1-in-process', 'rush').verdict = 'pass';
      Object.assign(cellOf(results, '3-spin', 'rush'), {
        verdict: 'unknown',
        reasons: ['Nothing was sold by node-2.'],
      });
      delete cellOf(results, '2-recursive-retry', 'rush').figures?.latencyMs;
      delete cellOf(results, '2-recursive-retry', 'rush').figures?.redisCommandsPerSale;
      results.stages[8]?.drills.pop();
      results.leftOut = ['8-auto-renew sell-out'];
      Object.assign(results, judgeRun(results.stages, results.leftOut));
    }),
  );
  const [staircase, , rush] = tablesOf(markdown);
  expect(markdown).toMatch(/^# Not as taught\n/);
  expect(staircase?.[2]?.[2]).toBe('✔ 750 lost (not as taught: fail)');
  expect(staircase?.[4]?.[2]).toBe('?');
  expect(staircase?.[9]?.[3]).toBe('left out');
  expect(rush?.[3]?.slice(-3)).toEqual(['not measured', 'not measured', 'not measured']);
  expect(markdown).toContain('### 3-spin rush: unknown\n\nNothing was sold by node-2.\n');
  expect(markdown).toContain('Left out:\n\n- 8-auto-renew sell-out\n');
});

test('a run without any drill says so', () => {
  const markdown = renderMarkdown(
    sampleResults((results) => {
      results.stages = [];
      Object.assign(results, judgeRun([], []));
    }),
  );
  expect(markdown).toMatch(
    /^# Unknown\n\n.*\n\nNothing was run\.\n\n- No drill was run\.\n\n## The staircase\n\nNothing was run\.\n\n## How/,
  );
});
