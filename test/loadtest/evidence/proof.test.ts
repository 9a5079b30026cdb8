import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { latestProof, provedOf, readProof } from '../../../loadtest/evidence/proof.ts';
import { makeTempDir } from '../../../scripts/stack/parts.ts';
import { sampleCell, sampleProof } from '../prove/sample-proof.ts';

/** A folder with this `prove.json`. */
function folderWith(text: string): string {
  const { dir, remove } = makeTempDir();
  onTestFinished(remove);
  writeFileSync(join(dir, 'prove.json'), text);
  return dir;
}
const proofOf = (more: object) => JSON.stringify({ ...sampleProof(), ...more });

test.each([
  ['no JSON', '{"format": 1,', "can't be read: "],
  ['another format', proofOf({ format: 2 }), 'is not a proof of format 1: format: '],
  ['a verdict that there is not', proofOf({ cells: [{ ...sampleCell(), verdict: 'pass' }] }), 'cells.0.verdict: '],
])('readProof: refuses %s', (_what, text, why) => {
  expect(() => readProof(folderWith(text))).toThrow(why);
});

test('latestProof: follows the link among the reports, and without a proof, or with a broken one, there is none', () => {
  const reports = folderWith('');
  expect(latestProof(reports)).toBeUndefined();

  mkdirSync(join(reports, 'now'));
  writeFileSync(join(reports, 'now', 'prove.json'), proofOf({}));
  symlinkSync('now', join(reports, 'latest-prove'));
  expect(latestProof(reports)).toEqual(sampleProof());

  writeFileSync(join(reports, 'now', 'prove.json'), 'broken');
  expect(latestProof(reports)).toBeUndefined();
});

test('provedOf: the worst of what was looked at, and nothing of what was not', () => {
  const cells = [sampleCell(), sampleCell({ processes: 3, verdict: 'unknown' })];
  const proof = { ...sampleProof(), cells };
  const cell = { stage: '6-lua-release', drill: 'late-release' };

  expect(provedOf({ ...proof, cells: cells.slice(0, 1) }, cell)).toBe('holds');
  expect(provedOf(proof, cell)).toBe('unknown');
  expect(provedOf({ ...proof, cells: [...cells, sampleCell({ verdict: 'fails' })] }, cell)).toBe('fails');
  expect(provedOf(proof, { ...cell, drill: 'rush' })).toBeUndefined();
  expect(provedOf(undefined, cell)).toBeUndefined();
});
