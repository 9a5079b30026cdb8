// The tables of all published locks: the long one of the index, and the short one of README.md and docs/choosing.md.

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
    `Lock libraries from npm, put through the same [drills](../drills.md) as the locks of the course. A page each says what the library promises, word for word, how it was run, and what happened, with witnesses. Recorded on ${days.join(', ')}.`,
    shortTable(verdicts, '.'),
    '## How to read it',
    'A drill judges by the stock, never by what a lock says of itself. It is ✘ when the library fails what its documentation promises, and (✘) when it fails what it does not promise: that is the difference between two promises, and no bug. What could not be staged is ?, and what a lock has nothing for is –. A verdict speaks of this version, these options and these drills, and of nothing else.',
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
