import { expect, test } from 'vitest';
import { differences, expectedVerdict, signExpected } from '../../../loadtest/prove/expected.ts';
import { plan, provableLocks, scopeNames } from '../../../loadtest/prove/plan.ts';
import { verdictExpected } from '../../../loadtest/staircase/lookup.ts';
import { readTable } from '../../../loadtest/staircase/table.ts';
import { readText } from '../../lesson/project-files.ts';

const cells = provableLocks.flatMap(({ stage }) => scopeNames.map((scope) => ({ stage, scope })));

test('what is expected of the search is what is expected of the drill of the same name, or it is said why not', () => {
  const others = cells.filter(({ stage, scope }) => {
    const [drill, search] = [verdictExpected(stage, scope), expectedVerdict(stage, scope)];
    return drill !== null && search !== (drill === 'pass' ? 'holds' : 'fails') && signExpected(stage, scope) !== '–';
  });

  expect(others.map(({ stage, scope }) => differences[stage]?.[scope] && `${stage} ${scope}`)).toEqual([
    'fenced-writes paused-process',
  ]);
});

test('nothing is expected where nothing is looked at', () => {
  const common = { scopes: scopeNames, processes: [2, 3], sales: 1, budget: {} };
  const looked = plan({ locks: provableLocks, ...common }).map(({ stage, scope }) => `${stage} ${scope}`);
  const blank = cells.filter(({ stage, scope }) => signExpected(stage, scope) === '–');

  expect(blank.map(({ stage, scope }) => `${stage} ${scope}`)).toEqual(
    cells.map(({ stage, scope }) => `${stage} ${scope}`).filter((cell) => !looked.includes(cell)),
  );
});

test('docs/reference/formats.md: its part of the matrix promises what is expected', () => {
  const [, text = ''] = /^## The matrix.*?^```text\n(.*?)^```/ms.exec(readText('docs/reference/formats.md')) ?? [];
  const { columns, rows } = readTable(text, { signs: ['✔', '✘', '2', '?', '–'] as const });
  const meant = { '✔': 'holds', '2': 'holds', '✘': 'fails', '?': undefined, '–': undefined };

  expect(columns.length).toBeGreaterThan(10);
  for (const [stage, signs] of Object.entries(rows))
    for (const [scope, sign] of Object.entries(signs))
      if (meant[sign])
        expect({ stage, scope, verdict: expectedVerdict(stage, scope) }).toEqual({
          stage,
          scope,
          verdict: meant[sign],
        });
});
