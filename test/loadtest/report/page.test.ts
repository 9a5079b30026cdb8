import { beforeAll, describe, expect, test } from 'vitest';
import type { Proof } from '../../../loadtest/evidence/proof.ts';
import type { Results } from '../../../loadtest/evidence/results.ts';
import { html } from '../../../loadtest/report/escape.ts';
import { renderPage } from '../../../loadtest/report/page.ts';
import { judgeRun } from '../../../loadtest/staircase/judge-run.ts';
import { lockStaircase } from '../../../loadtest/staircase/locks.ts';
import { groups } from '../../../loadtest/staircase/staircase.ts';
import { sampleProof } from '../prove/sample-proof.ts';
import { cellOf, sampleResults, sampleWithCourses, sampleWithSteps } from './sample-results.ts';
import { stageDrillNames } from './sample-steps.ts';

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
  const table = page.match(new RegExp(`<table class="${name}[^>]*>(.*?)</table>`, 's'))?.[1] ?? '';
  return rowsOf(table);
}

function rowsOf(table: string): string[][] {
  return [...table.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = '']) =>
    [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = '']) => textOf(cell)),
  );
}

/** The cells of the staircase by stage and drill, as text, whichever group they stand in; and the drills of each group. */
function staircaseOf(page: string) {
  const tables = [
    ...page.matchAll(
      /(?:<h3 class="group">([^<]*)<\/h3>\s*(?:<p [^<]*<\/p>\s*)?<div [^>]*>\s*)?<table class="staircase[^>]*>(.*?)<\/table>/gs,
    ),
  ];
  const groups = tables.map(([, group, table = '']) => {
    const [head = [], ...rows] = rowsOf(table);
    return { group, drills: head.slice(1).map((cell) => cell.split(' ')[0] ?? ''), rows };
  });
  return {
    groups: groups.map(({ group, drills }) => [group, drills] as const),
    cell(stage: string, drill: string) {
      const group = groups.find(({ drills }) => drills.includes(drill));
      return group?.rows.find(([name]) => name === stage)?.[1 + group.drills.indexOf(drill)];
    },
  };
}

function sectionOf(page: string, id: string): string {
  return page.match(new RegExp(`<(section|article)[^>]* id="${id}">.*?</\\1>`, 's'))?.[0] ?? '';
}

/** The page without its charts, which take long to draw. */
const renderWithoutCharts = (results: Results, proof?: Proof) => renderPage(results, () => html``, proof);

/** Changes a sample and judges it anew, as the harness does. */
function judgedResults(change: (results: Results) => void): Results {
  return sampleResults((results) => {
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
  const results = sampleWithCourses();
  let page = '';
  beforeAll(async () => {
    page = await renderPage(results);
  });

  test('opens with the verdict and the sentence that sums it up', () => {
    expect(textOf(page.slice(page.indexOf('<body>')))).toMatch(
      /^Lockstep · 21 November 2026, 10:15 UTC · ran for 1 min 14 s ✔\uFE0E As taught Stage 1 lost 750 of 2,000 sales on two nodes; from stage 2 on none is lost\. Stage 1 sold 1,508 of 1,000 units in stock; from stage 2 on none is oversold\. 27 cells run: all as taught\. The staircase/,
    );
  });

  test('tells the order: verdict, staircase, charts, stages, environment', () => {
    const headings = [...page.matchAll(/<h[12]>(.*?)<\/h[12]>/gs)].map(([, heading = '']) => textOf(heading));
    expect(headings).toEqual([
      '✔\uFE0E As taught',
      'The staircase',
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
    expect(targets).toHaveLength(9 + 27 + 3);
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
      "Problem a holder that crashes never deletes the key, and everyone waits for ever. Change the key expires after leaseMs, set by the same command that creates it. Leaves a holder slower than its lease deletes the next holder's key.",
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

describe('the page of a run with the drills that go step by step', () => {
  const results = sampleWithSteps();
  let page = '';
  beforeAll(async () => {
    page = await renderWithoutCharts(results);
  });

  test('sums up which stage fixes what, and what the last one leaves', () => {
    expect(textOf(page)).toContain(
      'Stage 3 fixes long-wait, stage 4 crashed-holder, stage 5 slow-holder, stage 6 late-release, stage 7 nested-call and stage 8 long-sale; stage 8 still fails hung-holder, paused-process, blocked-loop, partition, late-write, crossed-write, failover, forgotten-sale, starvation, overtaking and clock-jump.',
    );
    expect(textOf(page)).toContain('189 cells run: 78 as taught, 111 measured only. 9 cells not applicable.');
  });

  test('has a column for each drill, group by group, and asks their questions below', () => {
    const { groups: shown } = staircaseOf(page);
    const inGroup = (group: string) => stageDrillNames.filter((drill) => lockStaircase.columns[drill]?.group === group);
    expect(shown).toEqual(groups.map((group) => [group, inGroup(group)]));
    const questions = textOf(page.match(/<dl class="questions">.*?<\/dl>/s)?.[0] ?? '');
    for (const drill of stageDrillNames) expect(questions).toContain(`${drill} ${lockStaircase.columns[drill]?.asks}`);
  });

  test('shows the key figure of each step drill', () => {
    const { cell } = staircaseOf(page);
    expect(
      ['long-wait', 'crashed-holder', 'hung-holder', 'slow-holder', 'late-release'].map((drill) =>
        cell('3-spin', drill),
      ),
    ).toEqual([
      '✔\uFE0E pass 2 B a try',
      '✘\uFE0E fail none in 2 s',
      '✘\uFE0E fail none in 3 s',
      '✔\uFE0E pass waited 2.5 s',
      '✔\uFE0E pass waited 2.5 s',
    ]);
    expect(
      ['long-sale', 'late-write', 'failover', 'forgotten-sale', 'redis-outage', 'client-gone', 'clock-jump'].map(
        (drill) => cell('8-auto-renew', drill),
      ),
    ).toEqual([
      '✔\uFE0E pass 0 lost',
      '✘\uFE0E fail 3 lost',
      '✘\uFE0E fail 3 lost',
      '✘\uFE0E fail 1 forgotten',
      '✔\uFE0E pass back in 214 ms',
      '✔\uFE0E pass 30 ms',
      '✘\uFE0E fail 3 lost',
    ]);
  });

  test('tells apart what is taught, what is only measured, and where there is nothing to break', () => {
    expect([...page.matchAll(/<td class="fail">/g)]).toHaveLength(22);
    expect([...page.matchAll(/<td class="(?:pass|fail) measured">/g)]).toHaveLength(111);
    expect([...page.matchAll(/<td class="not-applicable">/g)]).toHaveLength(9);
    expect(staircaseOf(page).cell('0-none', 'long-wait')).toBe('– not applicable');
    expect(page).toContain('measured only, the lesson leaves it open');
  });

  test('leads from every cell to a part of the page that exists once', () => {
    const targets = [...page.matchAll(/href="#([^"]*)"/g)].map(([, target]) => target);
    const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    expect(new Set(targets).size).toBe(9 + 198);
    expect(ids).toEqual([...new Set(ids)]);
    expect(ids).toEqual(expect.arrayContaining(targets));
  });

  test('shows in the article of a drill its question, its figures and its witnesses beside the timeline', () => {
    const article = sectionOf(page, '8-auto-renew.paused-process');
    expect(textOf(article)).toMatch(/^✘\uFE0E paused-process: fail, 3 lost is a sale lost when a holder is paused/);
    expect(tableOf(article, 'figures steps')).toEqual([
      ['Overlaps', '3'],
      ['Sold while the fault lasted', '3'],
      ['Expected stock', '96'],
      ['Final stock', '99'],
      ['Lost updates', '3'],
    ]);
    expect(article).toContain('<td class="damage">3</td>');
    expect(article).toMatch(/<figure class="timeline">.*<\/figure>.*2 witnesses:/s);
    expect(tableOf(sectionOf(page, '4-ttl.crashed-holder'), 'figures steps')).toEqual([
      ['Until the other node sold again', '1 s'],
    ]);
  });

  test('compares a drill that holds with the stage before, which fails it', () => {
    const article = sectionOf(page, '4-ttl.crashed-holder');
    expect(textOf(article)).toContain('Before: Stage 3 · spin : fail, none in 2 s.');
    expect(article).toContain('<a href="#3-spin.crashed-holder">');
    expect(sectionOf(page, '5-owner-check.crashed-holder')).not.toContain('Before:');
    expect(sectionOf(page, '3-spin.crashed-holder')).not.toContain('Before:');
  });

  test('draws every timeline twice, for a wide window and for a phone', () => {
    expect([...page.matchAll(/<svg class="wide" role="img"/g)]).toHaveLength(27);
    expect([...page.matchAll(/<svg class="narrow" role="img"/g)]).toHaveLength(27);
    expect(page).not.toMatch(/NaN|undefined|Infinity/);
    expect(page).not.toMatch(/https?:|\/\/[a-z]|@import|url\((?!#chart-)|<(script|link|img|iframe|object|embed)\b/i);
  });

  test('says how long the lease of these drills was', () => {
    expect(textOf(page.slice(page.indexOf('How it was run')))).toContain('Lease of the drills step by step 1 s');
  });
});

describe('the page of a run beside a proof', () => {
  const results = sampleWithSteps();

  test('a cell that was proved too has a second mark, in words as well', async () => {
    const page = await renderWithoutCharts(results, sampleProof());
    const { cell: cellAt } = staircaseOf(page);

    expect(cellAt('6-lua-release', 'late-release')).toMatch(/^✔\uFE0E pass .* ✔\uFE0E proved$/);
    expect(cellAt('8-auto-renew', 'failover')).toMatch(/^✘\uFE0E fail 3 lost ✘\uFE0E counterexample$/);
    expect(cellAt('8-auto-renew', 'late-write')).toMatch(/^✘\uFE0E fail 3 lost \? cut$/);
    expect([...page.matchAll(/<span class="proved">/g)]).toHaveLength(3);
    expect(textOf(page)).toContain('the proof of 22 November 2026, 10:15 UTC, Valkey 9.1.1');
  });

  test('without a proof, or with one of other cells, nothing is said of it', async () => {
    const proof = sampleProof((proof) => proof.cells.splice(0));
    const page = await renderWithoutCharts(results);

    expect(page).not.toMatch(/class="(proved|legend-title)"/);
    expect(await renderWithoutCharts(results, proof)).toBe(page);
  });
});

test('a run of some cells leaves the others calm', async () => {
  const page = await renderWithoutCharts(
    sampleWithSteps((results) => {
      for (const stage of results.stages) stage.drills = stage.drills.filter(({ taught }) => taught === 'fail');
    }),
  );
  expect([...page.matchAll(/<td class="blank"><\/td>/g)]).toHaveLength(9 * 20 - 22);
  expect(page).toContain('> not run</li>');
  expect(page).not.toContain('measured only');
});

test('a run of step drills alone draws no rush', async () => {
  const page = await renderPage(
    sampleWithSteps((results) => {
      results.stages = results.stages.slice(4, 5);
      for (const stage of results.stages) stage.drills = stage.drills.filter(({ drill }) => drill === 'slow-holder');
    }),
  );
  expect(textOf(page)).toContain('Stage 4 fails slow-holder. 1 cell run: 1 as taught.');
  expect([...page.matchAll(/<h2>/g)]).toHaveLength(3);
});

test('figures that this version does not know keep their names, and text from a timeline cannot become markup', async () => {
  const evil = `</svg><script>alert("1 & 2")</script>`;
  const page = await renderWithoutCharts(
    sampleWithSteps((results) => {
      const result = cellOf(results, '4-ttl', 'crashed-holder');
      result.figures = { constructor: 2.25, laterMs: 1_500, [evil]: 1_234 };
      for (const lane of result.timeline?.lanes ?? []) Object.assign(lane, { node: evil, saleId: evil });
      for (const fault of result.timeline?.faults ?? []) Object.assign(fault, { node: evil, label: evil });
    }),
  );
  expect(tableOf(sectionOf(page, '4-ttl.crashed-holder'), 'figures steps')).toEqual([
    ['constructor', '2.3'],
    ['laterMs', '1.5 s'],
    [evil, '1,234'],
  ]);
  expect(page).not.toContain('<script');
});

test('text from outside cannot become markup', async () => {
  const evil = `</style><script>alert("1 & 2")</script><img src=x onerror='x'>`;
  const page = await renderPage(
    sampleResults((results) => {
      results.stages = results.stages.slice(0, 2);
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

test('a cell that is not as taught is named in the verdict and in words in its cell', async () => {
  const results = judgedResults((sample) => {
    Object.assign(cellOf(sample, '4-ttl', 'rush'), {
      ...cellOf(sampleResults(), '1-in-process', 'rush'),
      taught: 'pass',
    });
  });
  const page = await renderWithoutCharts(results);
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
  const page = await renderWithoutCharts(results);
  expect(textOf(page)).toMatch(/^Unknown · Lockstep Lockstep .* \? Unknown /);
  expect(tableOf(page, 'staircase')[4]?.[2]).toBe('? unknown');
  expect(textOf(sectionOf(page, '3-spin.rush'))).toMatch(
    /Nothing may be concluded\. .* 2,000 requests were sent, but the nodes counted 1,998\. Nothing was sold by node-2\./,
  );
});

test('a figure that was not measured is never shown as zero', async () => {
  const page = await renderPage(
    sampleResults((results) => {
      results.stages = results.stages.slice(2, 4);
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

test('conflicts have a line where a drill had any, and none elsewhere', async () => {
  const page = await renderWithoutCharts(
    sampleResults((results) => {
      Object.assign(cellOf(results, '3-spin', 'rush').figures ?? {}, { conflicts: 6052 });
    }),
  );
  const rowsOf = (stage: string) => tableOf(sectionOf(page, stage), 'figures').map(([name, ...cells]) => [name, cells]);
  expect(rowsOf('3-spin')).toContainEqual(['Conflicts', ['0', '6,052', '0']]);
  expect(JSON.stringify(rowsOf('2-recursive-retry'))).not.toContain('Conflicts');
});

test('a run of one stage alone compares it with nothing', async () => {
  const page = await renderWithoutCharts(onlyStages(4, 5));
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
  const page = await renderWithoutCharts(results);
  expect(tableOf(page, 'staircase').slice(2)).toEqual([
    ['1-in-process', '✔\uFE0E pass 0 lost', '✘\uFE0E fail 750 lost', 'left out'],
    ['2-recursive-retry', 'left out', 'left out', ''],
  ]);
  expect(textOf(page)).toContain('5 cells run: all as taught. 3 cells left out.');
});

test('a run without any drill says so', async () => {
  const page = await renderPage(onlyStages(0, 0));
  expect(textOf(page)).toMatch(
    /\? Unknown Nothing was run\. No drill was run\. The staircase Nothing was run\. How it was run/,
  );
  expect(page).not.toContain('<svg');
});

test('a stage that sold nothing is not said to hold', async () => {
  const page = await renderWithoutCharts(
    sampleResults((results) => {
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
  const page = await renderWithoutCharts(
    sampleResults((results) => {
      const later = { taught: null, witnesses: [], witnessCount: 0, stockOverTime: [], durationMs: 1_200 };
      results.stages[8]?.drills.push(
        { drill: 'constructor', verdict: 'fail', reasons: ['The key stayed.'], ...later },
        { drill: 'takeover', verdict: 'not-applicable', reasons: ['This server has no replication.'], ...later },
      );
      results.stages.push({ stage: 'redlock', lockVersion: 9, drills: [] });
    }),
  );
  const table = tableOf(page, 'staircase');
  expect(table[0]?.slice(4)).toEqual(['constructor', 'takeover']);
  expect(table[9]?.slice(4)).toEqual(['✘\uFE0E fail', '– not applicable']);
  expect(table[10]).toEqual(['redlock', '', '', '', '', '']);
  expect(textOf(sectionOf(page, '8-auto-renew.takeover'))).toContain('This server has no replication.');
  expect(textOf(page)).toContain('28 cells run: 27 as taught, 1 measured only. 1 cell not applicable.');
});

test('large numbers stay whole', async () => {
  const page = await renderPage(
    sampleResults((results) => {
      results.stages = results.stages.slice(0, 1);
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
