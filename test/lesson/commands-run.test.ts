import { describe, expect, test } from 'vitest';
import {
  answersShownOn,
  isShownAs,
  keyOf,
  type LeftOut,
  leavesOut,
  type PageRun,
  pages,
  readLeftOut,
  runsOf,
  withoutLeftOut,
} from '../docs/page-runs.ts';
import { exitCodeOf, isAsExpected, type Ran, readNotRunYet, readRecord } from '../docs/record.ts';
import { commandLinesOf } from './markdown.ts';
import { readText } from './project-files.ts';

const record = readRecord();
const leftOut = readLeftOut();
const notRunYet = readNotRunYet();
const all = pages.flatMap((page) => runsOf(readText(page)));

/** Chapters with lines by hand, which show what was answered. */
const pagesByHand = pages.filter((page) =>
  runsOf(readText(page)).some(({ command }) => command.startsWith('. scripts/lab.sh')),
);

/** What no run and no row of the table accounts for, with what to do about it. */
function missingOf(page: string, runs: PageRun[], recorded: Ran[], rows: LeftOut[]): string[] {
  return runs.flatMap((run) => {
    const ran = recorded.find((each) => keyOf(each) === keyOf(run));
    if (rows.some((row) => leavesOut(row, run)) || (ran !== undefined && isAsExpected(ran))) return [];
    const what = ran === undefined ? 'was never run' : `ended with ${ran.exitCode} instead of ${exitCodeOf(run)}`;
    const faults = ran === undefined ? '' : ran.faults.map((fault) => ` (${fault})`).join('');
    return [`${keyOf(run)}: ${what}${faults}. Run: npx tsx test/docs/run-commands.ts ${page} --left`];
  });
}

/** The answers that a page shows and nobody gave. */
function unansweredOn(page: string, answers: string[]): string[] {
  return answersShownOn(page).filter((shown) => !answers.some((answer) => isShownAs(shown, answer)));
}

/** Entries of the record and rows of the table for which no page has a command. */
function staleOf(runs: PageRun[], recorded: Ran[], rows: LeftOut[]): string[] {
  const keys = runs.map(keyOf);
  return [
    ...recorded.map(keyOf).filter((key) => !keys.includes(key)),
    ...rows.filter((row) => !runs.some((run) => leavesOut(row, run))).map(({ command }) => command),
  ];
}

test.each(pages)('%s: each command ended as it should when it was run, or is listed as not run', (page) => {
  const runs = runsOf(readText(page)).filter((run) => !notRunYet.includes(keyOf(run)));

  expect(missingOf(page, runs, record, leftOut).join('\n')).toBe('');
});

test.each(pagesByHand)('%s: what it shows as answers to lines by hand was answered, the numbers apart', (page) => {
  const keys = runsOf(readText(page)).map(keyOf);
  const answers = record.filter((ran) => keys.includes(keyOf(ran))).flatMap((ran) => ran.answers);

  expect(unansweredOn(readText(page), answers)).toEqual([]);
});

test('the record and the table of commands that are not run have no command that no page has', () => {
  expect(staleOf(all, record, leftOut)).toEqual([]);
});

test('what is not run yet is on a page, and neither recorded nor left out for good', () => {
  const open = all.filter((run) => !leftOut.some((row) => leavesOut(row, run))).map(keyOf);
  const recorded = record.map(keyOf);

  expect(notRunYet.filter((key) => !open.includes(key) || recorded.includes(key))).toEqual([]);
});

test('the table and the record do not name the same command: what is recorded is run', () => {
  const both = record.filter((ran) => leftOut.some((row) => leavesOut(row, ran)));

  expect(both.map(keyOf)).toEqual([]);
});

test.each(pages)('%s: no command line is lost between the page and its runs', (page) => {
  const runs = runsOf(readText(page));
  const isForm = (line: string) => /<\w+>|…/.test(line);
  const isKnown = (line: string) =>
    runs.some(({ stack, command }) => stack === line || command.split('\n').includes(line)) ||
    // A page that has a stack speaks of it as `npm run up`.
    (line === 'npm run up' && runs.some(({ stack, command }) => /npm run up$/.test(stack ?? command)));

  const lines = commandLinesOf(withoutLeftOut(readText(page)));
  expect(lines.filter((line) => !isForm(line) && !isKnown(line))).toEqual([]);
});

describe('what the tests above find', () => {
  const page = ['```sh', 'npm run diff -- 4   # a comment', 'LOCK_VERSION=4 npm run up', '```'].join('\n');
  const byHand = [
    '',
    '```sh',
    '. scripts/lab.sh',
    'sale; stock',
    '```',
    'Then `npm run doctor` and `npm run bench -- …`.',
  ];
  const text = [page, ...byHand, '', '```sh', 'stock', '```', ''].join('\n');
  const runs: PageRun[] = [
    { command: 'npm run diff -- 4' },
    { stack: 'LOCK_VERSION=4 npm run up', command: '. scripts/lab.sh\nsale; stock\nstock' },
    { command: 'npm run doctor' },
  ];
  const ran: Ran[] = runs.map((run) => {
    return {
      ...run,
      exitCode: 0,
      expected: 0,
      faults: [],
      answers: [],
      tookMs: 1,
      at: '2026-11-23T00:00:00Z',
      commit: 'abc',
    };
  });
  const row: LeftOut = { command: 'npm run d', isBeginning: true, why: 'made up' };
  const change = (at: number, changes: Partial<Ran>) =>
    ran.map((each, i) => (i === at ? { ...each, ...changes } : each));

  test('a page: single commands, and what is typed by hand beside its stack as one shell', () => {
    expect(runsOf(text)).toEqual(runs);
    expect(missingOf('a.md', runs, ran, [])).toEqual([]);
    expect(staleOf(runs, ran, [row])).toEqual([]);
  });

  test.each<[string, Ran[], string]>([
    ['a command that was never run', ran.slice(1), 'npm run diff -- 4: was never run.'],
    ['a wrong exit code', change(0, { exitCode: 1 }), 'npm run diff -- 4: ended with 1 instead of 0.'],
    ['a line that was refused', change(1, { faults: ['curl: (7) refused'] }), '(curl: (7) refused)'],
    ['a record that calls a failure expected', change(2, { exitCode: 1, expected: 1 }), 'ended with 1 instead of 0'],
    ['the same lines beside another stack', change(1, { stack: 'npm run up' }), 'was never run'],
  ])('%s', (_what, recorded, sentence) => {
    expect(missingOf('a.md', runs, recorded, []).join('\n')).toContain(sentence);
  });

  test('a line by hand that was added after the run', () => {
    const added = runsOf(text.replace('sale; stock', 'sale; stock; sale'));

    expect(missingOf('a.md', added, ran, [])).toHaveLength(1);
    expect(staleOf(added, ran, [])).toHaveLength(1);
  });

  test('an answer that a page shows otherwise than it came', () => {
    const shown = ['```text', '{"outcome":"sold","remaining":4999,…}', '-1', '✔ holds', '```', ''].join('\n');
    const sold = '{"outcome":"sold","remaining":12,"node":"node-1"}';

    expect(unansweredOn(shown, [sold, '-2'])).toEqual([]);
    expect(unansweredOn(shown, [sold, '7'])).toEqual(['-1']);
    expect(unansweredOn(shown, [sold.replace('sold', 'refused'), '-2'])).toEqual([
      '{"outcome":"sold","remaining":4999,…}',
    ]);
  });

  test('a row of the table leaves out what it names, and no other', () => {
    const isLeftOut = (one: LeftOut) => runs.filter((run) => leavesOut(one, run)).map(({ command }) => command);

    expect(isLeftOut(row)).toEqual(['npm run diff -- 4', 'npm run doctor']);
    expect(isLeftOut({ ...row, command: 'npm run diff', isBeginning: false })).toEqual([]);
    expect(staleOf(runs, [], [{ ...row, command: 'npm run diff', isBeginning: false }])).toEqual(['npm run diff']);
  });
});
