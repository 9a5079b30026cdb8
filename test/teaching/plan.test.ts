import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { longSale } from '../../loadtest/drills/long-sale.ts';
import { projectDir } from '../../scripts/stack/parts.ts';
import { ownCommands } from '../loadtest/commands/command-under-test.ts';

const file = 'live/drill.ts';
const start = ownCommands(file);
const read = (page: string) => readFileSync(join(projectDir, 'docs/teaching', page), 'utf8');

/** What the plan allows for the first question of a row, and for each further one, in minutes. */
const FIRST = 4;
const FURTHER = 2;

interface Row {
  from: number;
  questions: number;
}

/** The rows of one of the plans. */
function rowsOf(page: string, minutes: number): Row[] {
  const [, section = ''] = page.split(`\n## ${minutes} minutes\n`);
  const [part = ''] = section.split(/^## /m);
  return [...part.matchAll(/^\| (\d+) .*$/gm)].map(([line, from]) => ({
    from: Number(from),
    questions: line.match(/` \*\*[A-D]\*\*/g)?.length ?? 0,
  }));
}

const minutesFor = (questions: number) => (questions === 0 ? 0 : FIRST + FURTHER * (questions - 1));

/** The rows that end before their questions are over. */
function tooShort(rows: Row[]): number[] {
  return rows
    .filter(({ from, questions }, place) => {
      const until = rows[place + 1]?.from ?? Number.POSITIVE_INFINITY;
      return until - from < minutesFor(questions);
    })
    .map(({ from }) => from);
}

test.each([60, 120])('%i minutes: the questions of each row have the time that the plan allows for them', (minutes) => {
  const rows = rowsOf(read('plan.md'), minutes);

  expect(rows.length).toBeGreaterThan(9);
  expect(tooShort(rows)).toEqual([]);
});

test('60 minutes: the plan adds them up', () => {
  const rows = rowsOf(read('plan.md'), 60);
  const asking = rows.filter(({ questions }) => questions > 0);
  const after = rows[rows.findLastIndex(({ questions }) => questions > 0) + 1]?.from ?? 0;
  const needed = asking.reduce((sum, { questions }) => sum + minutesFor(questions), 0);

  expect(read('plan.md').replaceAll('\n', ' ')).toContain(
    `makes ${needed} of the ${after - (asking[0]?.from ?? 0)} minutes`,
  );
});

test('the check sees a row with too little time', () => {
  const page = (times: number[]) =>
    `\n## 60 minutes\n| ${times[0]} | \`a · b\` **A**; \`c · d\` **B** |\n| ${times[1]} | x |\n`;

  expect(tooShort(rowsOf(page([0, 6]), 60))).toEqual([]);
  expect(tooShort(rowsOf(page([0, 5]), 60))).toEqual([0]);
});

test.each([
  ['slow-holder', '4', 'holds the lock, and stalls.'],
  ['late-release', '5', 'is held up on the line to Redis.'],
])('%s stops once, as the plan says, and then runs to its end', async (drill, stage, step) => {
  const command = start(file, [drill, '--stage', stage, '--pause'], {});
  const prompts = () => command.stdout().split('Enter goes on').length - 1;
  let pressed = 0;
  const pressing = setInterval(() => {
    for (; pressed < prompts(); pressed += 1) command.pressEnter();
  }, 50);
  const { code } = await command.ended.finally(() => clearInterval(pressing));

  // On a busy machine it is run again, from its beginning.
  expect(prompts()).toBeGreaterThan(0);
  expect(prompts()).toBe(command.stdout().split(step).length - 1);
  expect([0, 1]).toContain(code);
});

test('the card names the lease of long-sale, and a quarter of it', () => {
  const leaseMs = longSale.timing?.leaseMs ?? Number.NaN;

  expect(read('unknown.md')).toContain(
    `That of \`long-sale\` is ${leaseMs} ms, and a quarter of it is ${leaseMs / 4} ms.`,
  );
});
