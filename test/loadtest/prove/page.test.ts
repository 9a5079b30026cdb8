import { expect, test } from 'vitest';
import { renderProofPage } from '../../../loadtest/prove/page.ts';
import { textOf } from '../report/golden.ts';
import { sampleProof } from './sample-proof.ts';

const evil = `</style><script>alert("1 & 2")</script><img src=x onerror='x'>`;

test('the page of a proof: the verdict, each cell, the counterexample step by step; no text from outside is markup', async () => {
  const proof = sampleProof(({ cells }) => Object.assign(cells[2] ?? {}, { stage: evil, says: evil, reason: evil }));
  const page = await renderProofPage(proof);
  const targets = [...page.matchAll(/href="#([^"]*)"/g)].map(([, target]) => target);
  const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);

  expect(textOf(page)).toMatch(/1 cell holds: .*1 cell fails, .*1 cell is unknown: /s);
  expect(textOf(page)).toMatch(/failover: fails\n.*A and B are inside.*\n3 .*the server .*fails, and its replica/s);
  expect(ids).toEqual([...new Set(ids)]);
  expect(ids).toEqual(expect.arrayContaining(targets));
  expect(page).not.toMatch(/NaN|undefined|Infinity|<script|<img|https?:/);
});
