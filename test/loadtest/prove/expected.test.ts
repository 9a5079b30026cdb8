import { expect, test } from 'vitest';
import { differences, expectedVerdict, signExpected } from '../../../loadtest/prove/expected.ts';
import { plan, provableLocks, scopeNames } from '../../../loadtest/prove/plan.ts';
import { verdictExpected } from '../../../loadtest/staircase/lookup.ts';

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
