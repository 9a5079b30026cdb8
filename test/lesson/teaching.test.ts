import { describe, expect, test } from 'vitest';
import { readQuestions } from '../../live/questions.ts';
import { columnOf, rowOf, taughtVerdict } from '../../loadtest/staircase/lookup.ts';
import { list, readText } from './project-files.ts';

const folder = 'docs/teaching';
const read = (page: string) => readText(`${folder}/${page}`);
const signs: Record<string, string> = { pass: '✔', fail: '✘' };

/** The cells that a text names, such as `4-ttl · slow-holder` ✘, each with what stands behind it. */
const cellsIn = (text: string) =>
  [...text.matchAll(/`([\w-]+) · ([\w-]+)`(?: (✔|✘|\*\*[A-D]\*\*))?/g)].map(([, row = '', drill = '', says]) => ({
    row,
    drill,
    says,
  }));

/** What must stand behind a cell that is named as a proof. */
function signOf(row: string, drill: string): string | undefined {
  if (rowOf(row) === undefined || columnOf(drill) === undefined) return undefined;
  return signs[taughtVerdict(row, drill) ?? 'none'];
}

/** The letter of the right answer to a question of the live page. */
function letterOf(row: string, drill: string): string | undefined {
  const answers = readQuestions()[row]?.find((question) => question.drill === drill)?.answers ?? [];
  const right = answers.findIndex(({ isRight }) => isRight);
  return right === -1 ? undefined : `**${String.fromCharCode(65 + right)}**`;
}

describe('interview questions', () => {
  const questions = read('interview.md').split(/^## /m).slice(1);

  test('there are fifteen, in their order, each with an answer that is folded', () => {
    expect(questions.map((question) => question.match(/^\d+/)?.[0])).toEqual(
      Array.from({ length: 15 }, (_, at) => `${at + 1}`),
    );
    for (const question of questions) {
      expect(question).toMatch(/^\d+\. [^\n]+\?\n\n<details><summary>Answer<\/summary>\n\n.+\n\n<\/details>\s*$/s);
    }
  });

  test.each(questions.map((question) => [question.split('\n')[0] ?? '', question]))(
    '%s names cells that prove it',
    (_title, question) => {
      const cells = cellsIn(question);

      expect(cells.length).toBeGreaterThan(0);
      expect(cells).toEqual(cells.map((cell) => ({ ...cell, says: signOf(cell.row, cell.drill) })));
      // What is not taught proves nothing, and has no sign.
      expect(cells.filter(({ says }) => says === undefined)).toEqual([]);
    },
  );
});

describe('the plan', () => {
  const plan = read('plan.md');
  const cells = cellsIn(plan).filter(({ row }) => row !== 'stage');

  test('each question that it asks has the right letter, and each proof its sign', () => {
    const expected = ({ row, drill, says = '' }: (typeof cells)[number]) =>
      says.startsWith('**') ? letterOf(row, drill) : signOf(row, drill);

    expect(cells.length).toBeGreaterThan(20);
    expect(cells).toEqual(cells.map((cell) => ({ ...cell, says: expected(cell) })));
    expect(cells.filter(({ says }) => says === undefined)).toEqual([]);
  });

  test.each([60, 120, 240])('%i minutes: the times go up, begin with 0, and end before the end', (minutes) => {
    const [, section = ''] = plan.split(`\n## ${minutes} minutes\n`);
    const [part = ''] = section.split(/^## /m);
    const times = [...part.matchAll(/^\| (\d+) +\|/gm)].map(([, time]) => Number(time));

    expect(times[0]).toBe(0);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(new Set(times).size).toBe(times.length);
    expect(times.at(-1)).toBeLessThan(minutes);
    expect(times.at(-1)).toBeGreaterThan(minutes - 12);
  });
});

test('the index leads to every page of the folder', () => {
  const pages = list(folder).filter((file) => file !== 'README.md');

  expect(pages.length).toBeGreaterThan(3);
  for (const page of pages) expect(read('README.md')).toContain(`](${page})`);
});

test('the numbers of the course: each stage has a row', () => {
  const rows = [...read('course.md').matchAll(/\[(\d-[\w-]+)\]/g)].map(([, name]) => name);

  expect(rows).toEqual(
    list('locks')
      .filter((file) => /^\d.*\.ts$/.test(file))
      .map((file) => file.replace('.ts', '')),
  );
});

describe('the check itself', () => {
  test('sees a wrong sign, a wrong letter, a cell that there is not, and a proof without a sign', () => {
    expect(signOf('4-ttl', 'crashed-holder')).toBe('✔');
    expect(signOf('4-ttl', 'slow-holder')).toBe('✘');
    expect(signOf('4-ttl', 'long-sale')).toBeUndefined();
    expect(signOf('4-tll', 'slow-holder')).toBeUndefined();
    expect(signOf('4-ttl', 'slow-holders')).toBeUndefined();
    expect(letterOf('4-ttl', 'slow-holder')).toBe('**D**');
    expect(letterOf('4-ttl', 'long-sale')).toBeUndefined();
    expect(cellsIn('`4-ttl · slow-holder` ✔, `3-spin · rush`, `3-spin · crashed-holder` **D**: never')).toEqual([
      { row: '4-ttl', drill: 'slow-holder', says: '✔' },
      { row: '3-spin', drill: 'rush', says: undefined },
      { row: '3-spin', drill: 'crashed-holder', says: '**D**' },
    ]);
  });
});
