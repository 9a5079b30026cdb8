import { expect, test } from 'vitest';
import { inWords, judgeProof, type ProofCell, proofOf, proofSchema } from '../../../loadtest/prove/results.ts';
import { proveCell } from '../../../prove/cell.ts';
import { replay } from '../../../prove/replay.ts';
import { readLock } from '../../../prove/sandbox.ts';
import { type Scope, scopes } from '../../../prove/scopes.ts';
import { describeMachine } from '../../../scripts/command-line/environment.ts';
import { fileOf, task } from '../../prove/own-locks.ts';

const parts = { command: 'npm run prove', createdAt: new Date(0), machine: describeMachine() };

test('proofOf: the cells as the search found them, the drill of the same name, and what is expected of it', async () => {
  const cells = ['late-release', 'plain'].map((scope) => proveCell(task('5-owner-check', scope)));
  const found = await Promise.all(cells);

  const proof = await proofOf(found, parts);

  expect(proof).toMatchObject({ format: 2, createdAt: '1970-01-01T00:00:00.000Z', verdict: 'as-expected' });
  expect(proof.server).toMatch(/^Valkey \d+\.\d+\.\d+$/);
  expect(proof.cells.map(({ scope, drill, verdict, expected }) => ({ scope, drill, verdict, expected }))).toEqual([
    { scope: 'late-release', drill: 'late-release', verdict: 'fails', expected: 'fails' },
    { scope: 'plain', drill: null, verdict: 'holds', expected: 'holds' },
  ]);
  expect(proof.cells[0]).toMatchObject(JSON.parse(JSON.stringify(found[0])));
});

test('a cell that is not as promised: which, what was promised, what came; of more faults nothing is promised', async () => {
  const renamed = { ...(await proveCell(task('4-ttl', 'slow-holder'))), stage: '8-auto-renew' };

  const { verdict, verdictReasons } = await proofOf([renamed, { ...renamed, budget: { pauses: 2 } }], parts);

  expect(verdict).toBe('not-as-expected');
  expect(verdictReasons).toEqual([
    '8-auto-renew · slow-holder · 2 processes: It is expected to hold, but it fails. A changes the lock that B holds: B is inside and within its lease.',
  ]);
});

test.each([
  ['5-owner-check', 'late-release'],
  ['8-auto-renew', 'failover'],
])('a counterexample of %s under %s that was written and read back is replayed', async (stage, scope) => {
  const proof = await proofOf([await proveCell(task(stage, scope))], parts);

  const written = JSON.parse(JSON.stringify(inWords(proof)));
  const { counterexample, ...cell } = written.cells[0];
  const difference = await replay(counterexample, {
    ...cell,
    openLock: await readLock(fileOf(stage)),
    scope: scopes.find(({ name }) => name === scope) as Scope,
  });

  expect(counterexample.length).toBeGreaterThan(4);
  expect(counterexample[0]).toMatchObject({ process: 'A', kind: 'begins', command: 'starts a sale' });
  expect(difference).toBeUndefined();
  expect(proofSchema.parse(written)).toEqual(written);
});

const judged = (verdict: ProofCell['verdict'], expected: ProofCell['expected'] = null) => ({
  ...{ stage: '6-lua-release', scope: 'late-release', processes: 2, reason: 'No interleaving breaks the lock.' },
  ...{ verdict, expected },
});

test.each([
  ['all as expected', [judged('holds', 'holds'), judged('fails', 'fails'), judged('fails')], 'as-expected'],
  ['one is not', [judged('unknown'), judged('holds', 'fails')], 'not-as-expected'],
  ['one was cut, which contradicts nothing', [judged('holds', 'holds'), judged('unknown')], 'as-expected'],
  ['nothing is known', [judged('unknown', 'holds')], 'unknown'],
] as const)('judgeProof: %s', (_what, cells, verdict) => {
  expect(judgeProof([...cells]).verdict).toBe(verdict);
});
