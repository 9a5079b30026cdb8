import { expect, test } from 'vitest';
import { createChain } from '../../../services/inventory/chain.ts';

test.each([
  ['the first', [0], ['b', 'c']],
  ['one in the middle', [1], ['a', 'c']],
  ['the last', [2], ['a', 'b']],
  ['all, the last first', [2, 1, 0], []],
])('chain: without %s it has the others, in the order in which they came', (_what, places, left) => {
  const chain = createChain<string>();
  const links = ['a', 'b', 'c'].map(chain.add);

  for (const place of places) chain.remove(links[place] as (typeof links)[0]);
  const remaining = chain.all();
  chain.add('d');

  expect(remaining).toEqual(left);
  expect(chain.all()).toEqual([...left, 'd']);
});

test('chain: what is out keeps nothing else alive', () => {
  const chain = createChain<string>();
  const [, b] = ['a', 'b', 'c'].map(chain.add);

  chain.remove(b as NonNullable<typeof b>);

  expect(b).toEqual({ value: 'b', before: undefined, behind: undefined });
});
