// The tables of all published locks: the long one of the index, and the short one of the index and of docs/choosing.md.

import { formatMoment } from '../evidence/numbers.ts';
import type { LockRecord, Verdicts } from '../evidence/verdicts.ts';
import { columnNames } from '../staircase/lookup.ts';
import { coded, table } from './markdown.ts';
import { countOfHolds, drillsThat, isCheck, signs, standingOf, titleOf } from './sort.ts';

/** What stands around the short table in a document, so that it can be made anew. */
const BEGIN = '<!-- npm run verdicts makes this table. -->';
const END = '<!-- end of the table -->';

/** The page that leads to the others. */
export function indexPage(verdicts: Verdicts): string {
  const { locks } = verdicts;
  const days = [...new Set(locks.map(({ recordedAt }) => formatMoment(recordedAt).split(',')[0] ?? ''))];
  const blocks = [
    '<!-- npm run verdicts makes this page of docs/measured/verdicts.json. -->',
    '# Verdicts on published locks',
    `These lock libraries from npm went through the same [drills](../drills.md) as the built-in locks. Each has a page that quotes what the library promises, and says how it was run and what happened, with witnesses. They were recorded on ${days.join(', ')}.`,
    shortTable(verdicts, '.'),
    '## How to read it',
    'A drill judges by the stock, never by what a lock says of itself. A cell is ✘ when the library fails what its documentation promises. It is (✘) when the library fails what it does not promise: that is a difference between two promises, and no bug. A cell is ? when the fault could not be staged, and – when the lock has nothing for it. A verdict is about this version, these options and these drills, and about nothing else.',
    '## All cells',
    matrix(locks, (name) => !isCheck(name)),
    ...(locks.some(({ drills }) => drills.some(({ drill }) => isCheck(drill))) ? [matrix(locks, isCheck)] : []),
    '## Record them again',
    '```sh\nnpm run verdicts                                      # all of them, one after the other: three to five minutes each\nnpm run verdicts -- --only redlock,murlock            # some, and the others stay as they were recorded\nnpm run verdicts -- --only redlock-4 --drill amnesia  # one cell again\nnpm run verdicts -- --pages                           # the pages alone, from docs/measured/verdicts.json\n```',
  ];
  return `${blocks.join('\n\n')}\n`;
}

/** A line for each lock. `pages` is where their pages are. */
export function shortTable({ locks }: Verdicts, pages: string): string {
  const drills = (record: LockRecord, standing: 'broken' | 'beyond' | 'unknown') =>
    coded(drillsThat(record, standing).map(({ drill }) => drill));
  return table(
    ['library', 'holds', 'fails what it promises', 'fails what it does not promise', 'unknown'],
    locks.map((record) => [
      `[${titleOf(record)}](${pages}/${record.name}.md)`,
      countOfHolds(record),
      drills(record, 'broken'),
      drills(record, 'beyond'),
      drills(record, 'unknown'),
    ]),
  );
}

/** The document with the short table anew. Throws when it has no place for it. */
export function withShortTable(document: string, verdicts: Verdicts, pages: string): string {
  const [from, to] = [document.indexOf(BEGIN), document.indexOf(END)];
  if (from === -1 || to < from) throw new Error('has no place for the table of the published locks');
  return `${document.slice(0, from + BEGIN.length)}\n\n${shortTable(verdicts, pages)}\n\n${document.slice(to)}`;
}

function matrix(locks: LockRecord[], isMeant: (name: string) => boolean): string {
  const all = locks.flatMap(({ drills }) => drills.map(({ drill }) => drill));
  const ran = [...new Set(all)].filter(isMeant);
  const isKnown = (drill: string) => columnNames.includes(drill);
  const drills = [...columnNames.filter((drill) => ran.includes(drill)), ...ran.filter((drill) => !isKnown(drill))];
  const cell = (record: LockRecord, drill: string) => {
    const result = record.drills.find((each) => each.drill === drill);
    return result === undefined ? '–' : signs[standingOf(record, result)];
  };
  return table(
    ['', ...drills],
    locks.map((record) => [titleOf(record), ...drills.map((drill) => cell(record, drill))]),
  );
}
