import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { latestProof, provedOf, readProof } from '../../../loadtest/evidence/proof.ts';
import { sampleCell, sampleProof } from '../prove/sample-proof.ts';

/** A folder with this `prove.json`. */
function folderWith(text: string): string {
  const dir = mkdtempSync(join(tmpdir(), 'lockstep-proof-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  writeFileSync(join(dir, 'prove.json'), text);
  return dir;
}

test('readProof: reads what was written', () => {
  expect(readProof(folderWith(JSON.stringify(sampleProof())))).toEqual(sampleProof());
});

test.each([
  ['no JSON', '{"format": 1,', "can't be read: "],
  ['another format', JSON.stringify({ ...sampleProof(), format: 2 }), 'is not a proof of format 1: format: '],
  ['a list', '[]', 'is not a proof of format 1: all of it: '],
  [
    'a cell of another kind',
    JSON.stringify({ ...sampleProof(), cells: [{ ...sampleCell(), verdict: 'pass' }] }),
    'is not a proof of format 1: cells.0.verdict: ',
  ],
  [
    'a number of states below 0',
    JSON.stringify({ ...sampleProof(), cells: [sampleCell(), sampleCell({ states: -1 })] }),
    'is not a proof of format 1: cells.1.states: ',
  ],
])('readProof: refuses %s in one sentence', (_what, text, why) => {
  const dir = folderWith(text);

  expect(() => readProof(dir)).toThrow(`${join(dir, 'prove.json')} ${why}`);
  expect(() => readProof(dir)).toThrow(/^[^\n]*\.$/);
});

test('readProof: says which file there is not', () => {
  expect(() => readProof('/nowhere')).toThrow('There is no /nowhere/prove.json.');
});

test('latestProof: follows the link among the reports, and without a proof there is none', () => {
  const reports = folderWith('');
  expect(latestProof(reports)).toBeUndefined();

  mkdirSync(join(reports, 'now'));
  writeFileSync(join(reports, 'now', 'prove.json'), JSON.stringify(sampleProof()));
  symlinkSync('now', join(reports, 'latest-prove'));
  expect(latestProof(reports)?.cells).toHaveLength(3);

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
