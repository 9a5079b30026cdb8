import { beforeAll, describe, expect, test } from 'vitest';
import type { Proof } from '../../../loadtest/evidence/proof.ts';
import { mermaidOf } from '../../../loadtest/prove/mermaid.ts';
import { renderProofPage } from '../../../loadtest/prove/page.ts';
import { escapeText } from '../../../loadtest/report/escape.ts';
import { failoverSteps, sampleCell, sampleProof } from './sample-proof.ts';

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

/** The cells of the tables of a class, row by row, as text. */
function rowsOf(page: string, name: string): string[][] {
  const tables = [...page.matchAll(new RegExp(`<table class="${name}[^"]*">(.*?)</table>`, 'gs'))];
  return tables.flatMap(([, table = '']) =>
    [...table.matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)].map(([, row = '']) =>
      [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = '']) => textOf(cell)),
    ),
  );
}

const headerOf = (page: string) => textOf(page.match(/<header.*?<\/header>/s)?.[0] ?? '');
const articleOf = (page: string, id: string) =>
  page.match(new RegExp(`<article[^>]* id="${id}">.*?</article>`, 's'))?.[0] ?? '';

describe('the page of a proof', () => {
  const proof = sampleProof();
  let page = '';
  beforeAll(async () => {
    page = await renderProofPage(proof);
  });

  test('opens with the verdict, and says what was proved, with its scope', () => {
    expect(headerOf(page)).toBe(
      'Lockstep · the proof · 22 November 2026, 10:15 UTC · Valkey 9.1.1 ? Unknown ' +
        '1 cell holds: in all orders in which the commands of 2 processes × 1 sale reach a real Valkey 9.1.1, with the faults that the scope allows, nothing is violated. None was cut. ' +
        '1 cell fails, each with the shortest order of events that breaks it. ' +
        '1 cell is unknown: nothing may be concluded. ' +
        '8-auto-renew late-write: unknown. 12 branches were cut at 4500 ms.',
    );
  });

  test('the matrix: a row for each stage, a column for each scope, each verdict in words', () => {
    expect(
      rowsOf(page, 'staircase proof').map((row) => row.map((cell) => cell.split(' ').slice(0, 5).join(' '))),
    ).toEqual([
      ['stage', 'late-release A release is held', 'late-write A write is held', 'failover The server is replaced'],
      ['6-lua-release', '✔\uFE0E holds 2 × 1', 'not looked at', 'not looked at'],
      ['8-auto-renew', 'not looked at', '? unknown 3 × 1', '✘\uFE0E fails 2 × 1'],
    ]);
  });

  test('leads from every cell to a part of the page that exists once', () => {
    const targets = [...page.matchAll(/href="#([^"]*)"/g)].map(([, target]) => target);
    const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    expect(new Set(targets).size).toBe(2 + 3);
    expect(ids).toEqual([...new Set(ids)]);
    expect(ids).toEqual(expect.arrayContaining(targets));
  });

  test('every cell has its row', () => {
    expect(rowsOf(page, 'figures cells').filter(([scope]) => scope !== 'scope')).toEqual([
      [
        'late-release',
        '✔\uFE0E holds',
        'A release is held up on its way, and must not harm the next holder.',
        '2 processes × 1 sale, at most 1 command held up',
        '276',
        '18,341',
      ],
      [
        'failover',
        '✘\uFE0E fails',
        'The server is replaced by a replica that has not heard of the last command.',
        '2 processes × 1 sale, at most 1 failover',
        '24',
        'not counted',
      ],
      [
        'late-write',
        '? unknown',
        'A write is held up until another sale has written.',
        '3 processes × 1 sale, at most 1 command held up',
        '9,000',
        'not counted',
      ],
    ]);
  });

  test('a counterexample: every step, with what came of it, and what it violates', () => {
    const [, ...rows] = rowsOf(articleOf(page, 'cell.8-auto-renew.failover'), 'figures order');
    expect(rows).toEqual([
      ['1', '0', 'A', 'comes', '', ''],
      ['2', '0', 'A', 'SET lock A:1 PX 900 NX', '"OK"', 'A is inside'],
      ['3', '0', 'the server', 'fails, and its replica has not heard of the last command', '', ''],
      ['4', '0', 'B', 'comes', '', ''],
      ['5', '0', 'B', 'SET lock B:1 PX 900 NX', '"OK"', 'B is inside ✘\uFE0E A and B are inside at the same time.'],
    ]);
  });

  test('a counterexample: drawn twice, for a wide window and for a phone, and as mermaid', () => {
    const article = articleOf(page, 'cell.8-auto-renew.failover');
    expect([...article.matchAll(/<svg class="(wide|narrow)" role="img"/g)]).toHaveLength(2);
    expect(article).toContain('class="overlap"');
    expect(article).toContain(escapeText(mermaidOf(sampleCell({ counterexample: failoverSteps }))));
    expect(textOf(article)).toContain('Replayed 20 times on fresh processes and a second Valkey: the same each time.');
    expect(page).not.toMatch(/NaN|undefined|Infinity/);
  });

  test('a cell that is unknown: says what was cut', () => {
    expect(textOf(articleOf(page, 'cell.8-auto-renew.late-write'))).toContain(
      '12 branches were cut at 4500 ms. Nothing may be concluded of the orders in which the commands of 3 processes × 1 sale',
    );
  });

  test('needs nothing but itself', () => {
    expect(page).not.toMatch(/https?:|\/\/[a-z]|@import|url\((?!#chart-)|<(script|link|img|iframe|object|embed)\b/i);
    expect([...page.matchAll(/ href="(?!#)/g)]).toEqual([]);
    expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
  });

  test('ends with the command to repeat it', () => {
    expect(textOf(page.slice(page.indexOf('How it was run')))).toContain(
      'npm run prove -- --stage 6,8 Server Valkey 9.1.1',
    );
  });
});

test('a cell that is not as taught says so in the matrix and below', async () => {
  const page = await renderProofPage(
    sampleProof((proof) => {
      proof.verdict = 'not-as-taught';
      Object.assign(proof.cells[1] ?? {}, { taught: 'holds' });
    }),
  );
  expect(headerOf(page)).toContain('Not as taught');
  expect(rowsOf(page, 'staircase proof')[2]?.[3]).toBe('✘\uFE0E fails 2 × 1 , 2 processes × 1 sale taught: holds');
  expect(textOf(articleOf(page, 'cell.8-auto-renew.failover'))).toContain('Not as taught: holds is taught.');
});

test('a lock of which nothing is taught: the title counts what holds', async () => {
  const page = await renderProofPage(
    sampleProof((proof) => {
      proof.verdict = 'as-taught';
      proof.cells = proof.cells.slice(0, 2).map((cell) => ({ ...cell, stage: 'mine', taught: null }));
    }),
  );
  expect(page).toMatch(/<title>1 of 2 cells hold/);
  expect(headerOf(page)).not.toContain('taught');
});

test('a lock that was looked at twice in one scope has two links to two places', async () => {
  const page = await renderProofPage(
    sampleProof((proof) => proof.cells.push(sampleCell({ processes: 3, schedules: 9e20 }))),
  );
  expect(rowsOf(page, 'staircase proof')[1]?.[1]).toMatch(/^✔\uFE0E holds 2 × 1 .* ✔\uFE0E holds 3 × 1 /);
  expect(page).toContain('id="cell.6-lua-release.late-release.2"');
  expect(page).toContain('about 9.0 × 10²⁰');
});

test('a search that was ended says how many branches are left', async () => {
  const page = await renderProofPage(
    sampleProof((proof) => {
      const reason = 'The search was ended before it had seen every order.';
      Object.assign(proof.cells[2] ?? {}, { reason, cut: 1_234 });
    }),
  );
  expect(textOf(articleOf(page, 'cell.8-auto-renew.late-write'))).toContain(
    'The search was ended before it had seen every order. 1,234 branches were not followed to the end.',
  );
});

test('a proof of nothing says so', async () => {
  const page = await renderProofPage(sampleProof((proof) => Object.assign(proof, { cells: [], verdictReasons: [] })));
  expect(headerOf(page)).toContain('? Unknown Nothing was looked at.');
});

test('text from outside cannot become markup', async () => {
  const evil = `</style><script>alert("1 & 2")</script><img src=x onerror='x'>`;
  const spoil = (cell: Proof['cells'][number]) => {
    Object.assign(cell, { stage: evil, scope: evil, says: evil, reason: evil });
    for (const step of cell.counterexample ?? []) {
      Object.assign(step, { command: evil, reply: evil });
      if (step.sent) step.sent.command = [evil];
      for (const told of step.told) Object.assign(told, { step: 'failed', why: evil });
    }
  };
  const page = await renderProofPage(
    sampleProof((proof) => {
      proof.cells = structuredClone(proof.cells);
      proof.cells.forEach(spoil);
      Object.assign(proof, { command: evil, server: evil, verdictReasons: [evil] });
    }),
  );
  expect(page).not.toMatch(/<script|<img|<\/style>(?=.*<\/style>)/s);
  expect(textOf(page).split(evil).length).toBeGreaterThan(20);
});
