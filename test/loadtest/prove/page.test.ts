import { expect, test } from 'vitest';
import type { Proof } from '../../../loadtest/evidence/proof.ts';
import { renderProofPage } from '../../../loadtest/prove/page.ts';
import { bodyOf } from '../report/golden.ts';
import { sampleCell, sampleProof } from './sample-proof.ts';

test('the page tells the verdict, the matrix, every cell, and each counterexample step by step', async () => {
  const proof = sampleProof(({ cells }) => {
    // One lock that was looked at twice in one scope, and a search that was ended.
    cells.push(sampleCell({ processes: 3, schedules: 9e20, taught: null }));
    cells.push(
      sampleCell({ stage: '4-ttl', verdict: 'unknown', reason: 'The search was ended.', cut: 1_234, taught: 'fails' }),
    );
    Object.assign(cells[1] ?? {}, { taught: 'holds' });
  });
  const page = await renderProofPage({ ...proof, verdict: 'not-as-taught' });
  const targets = [...page.matchAll(/href="#([^"]*)"/g)].map(([, target]) => target);
  const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);

  await expect(bodyOf(page)).toMatchFileSnapshot('golden/page.txt');
  expect(ids).toEqual([...new Set(ids)]);
  expect(ids).toEqual(expect.arrayContaining(targets));
  expect(page).not.toMatch(/https?:|\/\/[a-z]|@import|url\((?!#chart-)|<(script|link|img|iframe|object|embed)\b/i);
  expect(page).not.toMatch(/NaN|undefined|Infinity| href="(?!#)/);
});

test('a lock of which nothing is taught: the title counts what holds; a proof of nothing says so', async () => {
  const own = await renderProofPage(
    sampleProof((proof) => {
      proof.verdict = 'as-taught';
      proof.cells = proof.cells.slice(0, 2).map((cell) => ({ ...cell, stage: 'mine', taught: null }));
    }),
  );
  const none = await renderProofPage(sampleProof((proof) => Object.assign(proof, { cells: [], verdictReasons: [] })));

  expect(own).toMatch(/<title>1 of 2 cells hold/);
  expect(own.match(/<header.*?<\/header>/s)?.[0]).not.toMatch(/>[^<]*taught/);
  expect(none).toContain('Nothing was looked at.');
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
  expect(page.split('&lt;script&gt;').length).toBeGreaterThan(20);
});
