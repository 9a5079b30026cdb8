import { expect, test } from 'vitest';
import { readScenario, ScenarioError } from '../../../loadtest/scenarios/read.ts';

const pageOf = (...lines: string[]) =>
  ['a-page', 'Is a sale lost?', '', ...lines, '', 'holds when no sale is lost'].join('\n');

test('a page is read: its steps in order, and where one may talk', () => {
  const page = readScenario(
    pageOf('# a comment', 'B sells at node-2', 'A sells at node-1 for 2.5 leases', '', 'all sales end'),
  );

  expect(page).toMatchObject({ name: 'a-page', question: 'Is a sale lost?' });
  expect(page.steps.map(({ line, endsParagraph }) => [line, endsParagraph])).toEqual([
    ['B sells at node-2', false],
    ['A sells at node-1 for 2.5 leases', true],
    ['all sales end', true],
  ]);
  expect(page.steps.map(({ demands }) => demands.length)).toEqual([0, 0, 1]);
});

test.each([
  ['A sells at node-1 and is kept inside', 'The nearest one is "<sale> sells at <node> and is held inside"'],
  ['A sells at node-1, and gives up', 'The nearest one is "<sale> sells at <node>, and gives up after <limit>"'],
  ['A sells at node-3', 'The nearest one is "<sale> sells at <node>"'],
  ['holds when no sale is forgotten', 'The nearest one is "no sale is lost"'],
])('a sentence that is not known is refused with its line, and the nearest one: %s', (line, nearest) => {
  expect(() => readScenario(pageOf('all sales end', line))).toThrow(ScenarioError);
  expect(() => readScenario(pageOf('all sales end', line))).toThrow(/^a-page, line 5: /);
  expect(() => readScenario(pageOf('all sales end', line))).toThrow(nearest);
});

test('a page that does not say when it holds is refused', () => {
  expect(() => readScenario('a-page\nIs a sale lost?\n\nall sales end\n')).toThrow(
    'a-page: the last step has no "holds when" line.',
  );
});
