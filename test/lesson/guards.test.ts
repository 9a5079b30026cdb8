import { expect, test } from 'vitest';
import { exists, list, readText } from './project-files.ts';

/** In the order in which the chapter tells them. */
const guards = ['none', 'in-process', 'lock', 'conditional'];
const folder = 'services/inventory/orders/jobs';
const header = /^\/\/ Guard · .+\n\/\/ Problem: (.+)\n\/\/ Change: {2}(.+)\n\/\/ Leaves: {2}(.+)\n\n/;

const stories = guards.map((guard) => {
  const [, problem = '', change = '', leaves = ''] = header.exec(readText(`${folder}/${guard}.ts`)) ?? [];
  return { guard, problem, change, leaves };
});

test('guards: each has a file of its own, and no other file is one', () => {
  const files = list(folder).filter((file) => readText(`${folder}/${file}`).startsWith('// Guard'));

  expect(files).toEqual(guards.map((guard) => `${guard}.ts`).toSorted());
});

test.each(stories)('$guard: opens with its problem, its change and what it leaves, in full sentences', (story) => {
  for (const line of [story.problem, story.change, story.leaves]) expect(line).toMatch(/^[a-z].+\.$/);
});

test.each(stories.slice(1))(
  '$guard: its problem is what the guard before leaves, word for word',
  ({ guard, problem }) => {
    expect(problem).toBe(stories[guards.indexOf(guard) - 1]?.leaves);
  },
);

test.each(guards)('%s: at most 50 lines, and two comments in the body', (guard) => {
  const lines = readText(`${folder}/${guard}.ts`).trimEnd().split('\n');

  expect(lines.length).toBeLessThanOrEqual(50);
  expect(lines.slice(4).filter((line) => line.trim().startsWith('//')).length).toBeLessThanOrEqual(2);
});

test.each(stories)('$guard: the chapter has its problem and what it leaves, word for word', ({ problem, leaves }) => {
  expect(exists('docs/orders/cleanup.md')).toBe(true);
  const page = readText('docs/orders/cleanup.md');
  expect(page).toContain(`> ${problem}`);
  expect(page).toContain(`> ${leaves}`);
});
