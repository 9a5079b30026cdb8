import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type ProofCell, readProof } from '../../../loadtest/evidence/proof.ts';
import { judgeProof, proofOf, writeProof } from '../../../loadtest/prove/results.ts';
import { replay } from '../../../prove/replay.ts';
import { readLock } from '../../../prove/sandbox.ts';
import { type Scope, scopes } from '../../../prove/scopes.ts';
import type { Step } from '../../../prove/state.ts';
import { makeTempDir } from '../../../scripts/stack/parts.ts';
import { fileOfStage, provedCell } from './proved-cell.ts';
import { sampleCell } from './sample-proof.ts';

test('proofOf: the cells as the search found them, the drill of the same name, and what is taught of it', async () => {
  const found = await Promise.all([provedCell('5-owner-check', 'late-release'), provedCell('5-owner-check', 'plain')]);

  const proof = await proofOf({ command: 'npm run prove', createdAt: new Date(0), cells: found });

  expect(proof).toMatchObject({ format: 1, createdAt: '1970-01-01T00:00:00.000Z', verdict: 'as-taught' });
  expect(proof.server).toMatch(/^Valkey \d+\.\d+\.\d+$/);
  expect(proof.cells.map(({ scope, drill, verdict, taught }) => ({ scope, drill, verdict, taught }))).toEqual([
    { scope: 'late-release', drill: 'late-release', verdict: 'fails', taught: 'fails' },
    { scope: 'plain', drill: null, verdict: 'holds', taught: null },
  ]);
  expect(proof.cells[0]).toMatchObject(JSON.parse(JSON.stringify(found[0])));
});

test.each([
  ['5-owner-check', 'late-release', false],
  ['8-auto-renew', 'failover', true],
])(
  'a counterexample of %s under %s that was written and read back is replayed; a page lies beside it',
  async (...cell) => {
    const [stage, scope, isSplit] = cell;
    const { dir, remove } = makeTempDir();
    onTestFinished(remove);
    const folder = join(dir, 'made', 'now');
    const onRedis = { server: 'Redis 7.0.15', times: 5, sameEachTime: true };
    const cells = [{ ...(await provedCell(stage, scope, { isSplit })), onRedis }];
    await writeProof(await proofOf({ command: '', createdAt: new Date(), cells }), folder);

    const [found = sampleCell()] = readProof(folder).cells;
    const difference = await replay(found.counterexample as Step[], {
      ...found,
      openLock: await readLock(fileOfStage(stage)),
      scope: scopes.find(({ name }) => name === scope) as Scope,
    });

    expect(found.counterexample?.length).toBeGreaterThan(4);
    expect(difference).toBeUndefined();
    expect(readFileSync(join(folder, 'report.html'), 'utf8')).toContain('Replayed 5 times on Redis 7.0.15');
  },
);

const judged = (verdict: ProofCell['verdict'], taught: ProofCell['taught'] = null) => sampleCell({ verdict, taught });

test.each([
  ['all as taught', [judged('holds', 'holds'), judged('fails', 'fails'), judged('fails')], 'as-taught'],
  ['one is not', [judged('unknown'), judged('holds', 'fails')], 'not-as-taught'],
  ['one was cut, which contradicts nothing', [judged('holds', 'holds'), judged('unknown')], 'as-taught'],
  ['nothing is known', [judged('unknown', 'holds')], 'unknown'],
] as const)('judgeProof: %s', (_what, cells, verdict) => {
  expect(judgeProof([...cells]).verdict).toBe(verdict);
});
