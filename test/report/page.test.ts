import { beforeAll, describe, expect, test } from 'vitest';
import { renderPage } from '../../loadtest/report/page.ts';
import type { Results } from '../../loadtest/results.ts';
import { judgeRun } from '../../loadtest/staircase.ts';
import { cellOf, sampleResults } from './sample-results.ts';

/** What a reader sees of a piece of the page, without tags. */
function textOf(markup: string): string {
  return markup
    .replace(/<(style|svg)\b.*?<\/\1>/gs, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, ' ')
    .trim();
}

/** The cells of the first table of a class, row by row, as text. */
function tableOf(page: string, name: string): string[][] {
  const table = page.match(new RegExp(`<table class="${name}[^"]*">(.*?)</table>`, 's'))?.[1] ?? '';
  return [...table.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = '']) =>
    [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = '']) => textOf(cell)),
  );
}

function sectionOf(page: string, id: string): string {
  return page.match(new RegExp(`<(section|article)[^>]* id="${id}">.*?</\\1>`, 's'))?.[0] ?? '';
}

/** A sample whose rushes left no course to draw, so that the page is made quickly. */
function briefResults(change: (results: Results) => void): Results {
  return sampleResults((results) => {
    for (const result of results.stages.flatMap(({ drills }) => drills)) result.stockOverTime = [];
    change(results);
  });
}

/** Changes a sample and judges it anew, as the harness does. */
function judgedResults(change: (results: Results) => void): Results {
  return briefResults((results) => {
    change(results);
    Object.assign(results, judgeRun(results.stages, results.leftOut));
  });
}

/** The sample, cut to the stages from `from` up to, not including, `to`. */
function onlyStages(from: number, to: number): Results {
  return judgedResults((results) => {
    results.stages = results.stages.slice(from, to);
  });
}

describe('the page of a full run', () => {
  const results = sampleResults();
  let page = '';
  beforeAll(async () => {
    page = await renderPage(results);
  });

  test('opens with the verdict and the sentence that sums it up', () => {
    expect(textOf(page.slice(page.indexOf('<body>')))).toMatch(
      /^Lockstep · 21 November 2026, 10:15 UTC · ran for 1 min 14 s ✔\uFE0E As taught Stage 1 lost 750 of 2,000 sales on two nodes; from stage 2 on none is lost\. Stage 1 sold 1,508 of 1,000 units in stock; from stage 2 on none is oversold\. 27 cells run: all as taught\. What ran/,
    );
  });

  test('tells the order: verdict, staircase, charts, stages, environment', () => {
    const headings = [...page.matchAll(/<h[12]>(.*?)<\/h[12]>/gs)].map(([, heading = '']) => textOf(heading));
    expect(headings).toEqual([
      '✔\uFE0E As taught',
      'What ran',
      'What was left, and what should have been left',
      'The stock during each rush',
      'How long a sale took',
      'Stage by stage',
      'Stage 0 · none',
      'Stage 1 · in-process',
      'Stage 2 · recursive-retry',
      'Stage 3 · spin',
      'Stage 4 · ttl',
      'Stage 5 · owner-check',
      'Stage 6 · lua-release',
      'Stage 7 · reentrant',
      'Stage 8 · auto-renew',
      'How it was run',
    ]);
  });

  test('shows the staircase with the key figure of every cell', () => {
    const [head, ...rows] = tableOf(page, 'staircase');
    expect(head).toEqual([
      'stage',
      'one-node-rush does one node alone lose sales?',
      'rush do two nodes together lose sales?',
      'sell-out is more sold than there is?',
    ]);
    expect(rows[0]).toEqual([
      '0-none',
      '✘\uFE0E fail 1,951 lost',
      '✘\uFE0E fail 1,960 lost',
      '✘\uFE0E fail 1,000 oversold',
    ]);
    expect(rows[1]).toEqual([
      '1-in-process',
      '✔\uFE0E pass 0 lost',
      '✘\uFE0E fail 750 lost',
      '✘\uFE0E fail 508 oversold',
    ]);
    expect(rows[8]).toEqual(['8-auto-renew', '✔\uFE0E pass 0 lost', '✔\uFE0E pass 0 lost', '✔\uFE0E pass 0 oversold']);
  });

  test('leads from every cell to a part of the page that exists once', () => {
    const targets = [...page.matchAll(/href="#([^"]*)"/g)].map(([, target]) => target);
    const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    expect(targets).toHaveLength(9 + 27);
    expect(ids).toEqual([...new Set(ids)]);
    expect(ids).toEqual(expect.arrayContaining(targets));
  });

  test('names every witness', () => {
    for (const { stage, drills } of results.stages) {
      for (const { drill, witnesses } of drills) {
        const text = textOf(sectionOf(page, `${stage}.${drill}`));
        for (const witness of witnesses) expect(text).toContain(witness);
      }
    }
    expect(textOf(sectionOf(page, '1-in-process.rush'))).toContain('The first 10 of 375 witnesses:');
  });

  test('shows the figures of the results', () => {
    const rows = new Map(tableOf(sectionOf(page, '1-in-process'), 'figures').map(([name, ...cells]) => [name, cells]));
    expect(rows.get('figure')).toEqual(['one-node-rush', 'rush', 'sell-out']);
    expect(rows.get('Sold')).toEqual(['2,000', '2,000', '1,508']);
    expect(rows.get('Sold by node-2')).toEqual(['0', '997', '754']);
    expect(rows.get('Expected stock')).toEqual(['3,000', '3,000', '−508']);
    expect(rows.get('Final stock')).toEqual(['3,000', '3,750', '0']);
    expect(rows.get('Lost updates')).toEqual(['0', '750', '508']);
    expect(rows.get('p99, ms')).toEqual(['68.2', '68.2', '68.2']);
  });

  test("tells each stage's story from its file", () => {
    expect(textOf(sectionOf(page, '4-ttl'))).toContain(
      "Problem a holder that crashes never deletes the key, and everyone waits forever. Change the key expires after leaseMs, set by the same command that creates it. Leaves a holder slower than its lease deletes the next holder's key.",
    );
  });

  test('draws a chart of each kind, and says in words what it shows', () => {
    const labels = [...page.matchAll(/<svg role="img" aria-label="([^"]*)" viewBox="0 0 \d+ \d+">/g)].map(
      ([, label]) => label,
    );
    expect(labels).toHaveLength(3 + 27 + 3);
    expect(labels[1]).toContain('1-in-process: expected 3,000, final 3,750.');
    expect(labels).toContain('Stock of 1-in-process during rush: 3,750 instead of 3,000, in 766 ms');
    expect(labels.at(-2)).toContain('2-recursive-retry: p50 1.4 ms, p95 432 ms, p99 1.9 s, max 3.6 s.');
    expect(page).not.toMatch(/NaN|undefined|Infinity/);
  });

  test('needs nothing but itself', () => {
    expect(page).not.toMatch(/https?:|\/\/[a-z]|@import|url\((?!#chart-)|<(script|link|img|iframe|object|embed)\b/i);
    expect([...page.matchAll(/ (?:src|srcset|xlink:href|action|poster)=/g)]).toEqual([]);
    expect([...page.matchAll(/ href="(?!#)/g)]).toEqual([]);
    expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
  });

  test('ends with the environment and the command to repeat it', () => {
    const text = textOf(page.slice(page.indexOf('How it was run')));
    expect(text).toMatch(/To repeat it: npm start Requests of a rush 2,000 Connections 100 Stock of a rush 5,000/);
    expect(text).toMatch(/Redis 7\.0\.15, native nginx 1\.25\.4 Node v20\.20\.2/);
  });
});

test('text from outside cannot become markup', async () => {
  const evil = `</style><script>alert("1 & 2")</script><img src=x onerror='x'>`;
  const page = await renderPage(
    briefResults((results) => {
      const [stage] = results.stages;
      if (stage === undefined) throw new Error('no stage');
      stage.stage = evil;
      for (const result of stage.drills)
        Object.assign(result, { drill: evil, witnesses: [evil], reasons: [evil, evil] });
      results.verdictReasons = [evil];
      results.leftOut = [`${evil} rush`];
      results.command = evil;
      results.environment.commit = evil;
    }),
  );
  expect(page).not.toMatch(/<script|<img|<\/style>(?=.*<\/style>)/s);
  expect(textOf(page).split(evil).length).toBeGreaterThan(8);
});

test('a cell that is not as taught is told in the verdict and in words in its cell', async () => {
  const results = judgedResults((sample) => {
    Object.assign(cellOf(sample, '4-ttl', 'rush'), {
      ...cellOf(
        briefResults(() => {}),
        '1-in-process',
        'rush',
      ),
      taught: 'pass',
    });
  });
  const page = await renderPage(results);
  expect(textOf(page.slice(page.indexOf('<h1>'), page.indexOf('</header>')))).toBe(
    '✘\uFE0E Not as taught Stages 0, 1 and 4 lost sales on two nodes: 1,960 of 2,000, 750 of 2,000 and 750 of 2,000; from stage 5 on none is lost. Stage 1 sold 1,508 of 1,000 units in stock; from stage 2 on none is oversold. 27 cells run: 26 as taught, 1 not as taught. 4-ttl rush: fail, but pass is taught.',
  );
  expect(tableOf(page, 'staircase')[5]?.[2]).toBe('✘\uFE0E fail 750 lost taught: pass');
  expect([...page.matchAll(/<td class="fail off">/g)]).toHaveLength(1);
});

test('an unknown verdict shows its reasons and no key figure', async () => {
  const results = judgedResults((sample) => {
    Object.assign(cellOf(sample, '3-spin', 'rush'), {
      verdict: 'unknown',
      reasons: ['2,000 requests were sent, but the nodes counted 1,998.', 'Nothing was sold by node-2.'],
    });
  });
  const page = await renderPage(results);
  expect(textOf(page)).toMatch(/^Unknown · Lockstep Lockstep .* \? Unknown /);
  expect(tableOf(page, 'staircase')[4]?.[2]).toBe('? unknown');
  expect(textOf(sectionOf(page, '3-spin.rush'))).toMatch(
    /Nothing may be concluded\. .* 2,000 requests were sent, but the nodes counted 1,998\. Nothing was sold by node-2\./,
  );
});

test('a figure that was not measured is never shown as zero', async () => {
  const page = await renderPage(
    briefResults((results) => {
      for (const { figures } of results.stages.flatMap(({ drills }) => drills)) {
        delete figures?.latencyMs;
        delete figures?.overlaps;
        delete figures?.redisCommandsPerSale;
      }
    }),
  );
  const rows = new Map(
    tableOf(sectionOf(page, '2-recursive-retry'), 'figures').map(([name, ...cells]) => [name, cells]),
  );
  for (const name of ['p50, ms', 'p95, ms', 'p99, ms', 'max, ms', 'Overlaps', 'Redis commands per sale']) {
    expect(rows.get(name)).toEqual(['not measured', 'not measured', 'not measured']);
  }
  expect(page).not.toMatch(/NaN|undefined|Infinity/);
});

test('a run of one stage alone compares it with nothing', async () => {
  const page = await renderPage(onlyStages(4, 5));
  expect(textOf(page)).toContain(
    'Stage 4 lost no sale on two nodes. Stage 4 sold no more than there was. 3 cells run: all as taught.',
  );
  expect(page).not.toContain('<h2>Stage by stage</h2>');
  expect(tableOf(page, 'staircase')).toHaveLength(2);
});

test('a run that was cut short shows what it left out', async () => {
  const results = judgedResults((sample) => {
    sample.stages = sample.stages.slice(0, 2);
    sample.stages[1]?.drills.pop();
    sample.leftOut = ['1-in-process sell-out', '2-recursive-retry one-node-rush', '2-recursive-retry rush'];
  });
  const page = await renderPage(results);
  expect(tableOf(page, 'staircase').slice(2)).toEqual([
    ['1-in-process', '✔\uFE0E pass 0 lost', '✘\uFE0E fail 750 lost', 'left out'],
    ['2-recursive-retry', 'left out', 'left out', ''],
  ]);
  expect(textOf(page)).toContain('5 cells run: all as taught. 3 cells left out.');
});

test('a run without any drill says so', async () => {
  const page = await renderPage(onlyStages(0, 0));
  expect(textOf(page)).toMatch(
    /\? Unknown Nothing was run\. No drill was run\. What ran Nothing was run\. How it was run/,
  );
  expect(page).not.toContain('<svg');
});

test('a stage that sold nothing is not said to hold', async () => {
  const page = await renderPage(
    briefResults((results) => {
      for (const { drill, figures } of results.stages.slice(2).flatMap(({ drills }) => drills)) {
        if (drill !== 'rush' || figures === undefined) continue;
        Object.assign(figures, { sold: 0, soldByNode: {}, throughput: 0, expectedStock: 5_000, finalStock: 5_000 });
        delete figures.latencyMs;
      }
    }),
  );
  expect(textOf(page)).toContain(
    'Stages 0 and 1 lost sales on two nodes: 1,960 of 2,000 and 750 of 2,000; stages 2 to 8 sold nothing.',
  );
  expect(tableOf(page, 'staircase')[3]?.[2]).toBe('✔\uFE0E pass nothing sold');
});

test('drills and stages that this version does not know have their column and row', async () => {
  const page = await renderPage(
    briefResults((results) => {
      const later = { taught: null, witnesses: [], witnessCount: 0, stockOverTime: [], durationMs: 1_200 };
      results.stages[8]?.drills.push(
        { drill: 'constructor', verdict: 'fail', reasons: ['The key stayed.'], ...later },
        { drill: 'failover', verdict: 'not-applicable', reasons: ['This server has no replication.'], ...later },
      );
      results.stages.push({ stage: 'redlock', lockVersion: 9, drills: [] });
    }),
  );
  const table = tableOf(page, 'staircase');
  expect(table[0]?.slice(4)).toEqual(['constructor', 'failover']);
  expect(table[9]?.slice(4)).toEqual(['✘\uFE0E fail', '– not applicable']);
  expect(table[10]).toEqual(['redlock', '', '', '', '', '']);
  expect(textOf(sectionOf(page, '8-auto-renew.failover'))).toContain('This server has no replication.');
  expect(textOf(page)).toContain(
    '28 cells run: 27 as taught, 1 measured only. 1 cell not applicable to these servers.',
  );
});

test('large numbers stay whole', async () => {
  const page = await renderPage(
    briefResults((results) => {
      Object.assign(cellOf(results, '0-none', 'rush').figures ?? {}, {
        sent: 50_000,
        sold: 50_000,
        initialStock: 5_000_000,
        expectedStock: 4_950_000,
        finalStock: 4_999_500,
        lostUpdates: 49_500,
      });
    }),
  );
  expect(tableOf(page, 'staircase')[1]?.[2]).toBe('✘\uFE0E fail 49,500 lost');
  expect(page).toContain('>4,999,500</text>');
});
