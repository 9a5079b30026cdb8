// docs/known-bugs.md: which part of a verdict catches which bug, from what a run recorded.

import { controlOf, controls, knownBugs } from './bugs.ts';
import { caughtBy, type Part, parts, type Record, type Row } from './record.ts';

/** The row of a lock. Throws when the record has none. */
export function rowOf({ rows }: Record, name: string): Row {
  const row = rows.find((each) => each.name === name);
  if (row === undefined) throw new Error(`The record has no row ${name}: npm run known-bugs -- --only ${name}`);
  return row;
}

/** The page. Throws when the record lacks a row. */
export function renderPage(record: Record): string {
  const bugs = knownBugs.map((bug) => {
    const caught = caughtBy(rowOf(record, bug.name), rowOf(record, controlOf(bug).name));
    return [`\`${bug.name}\``, bug.why, ...parts.map((part) => named(caught[part]))];
  });
  const correct = controls.map(({ name, why }) => {
    const row = rowOf(record, name);
    const outside = parts.flatMap((part) => row[part].filter(({ notPromised }) => notPromised !== undefined));
    return [`\`${name}\``, why, named(outside.map(({ name }) => name)), named(faultsOf(row))];
  });
  return `${[
    '# Which bug is caught by what',
    intro,
    '## The bugs',
    table(['lock', 'what is wrong', ...parts.map((part) => headings[part])], bugs),
    '## Locks without a bug',
    correctIntro,
    table(['lock', 'what is wrong', 'fails, and does not promise', 'fails, and promises'], correct),
    '## How it was run',
    `On ${day(record.createdAt)}: Node ${record.node}, ${record.os}, ${record.cpus}, ${record.servers}, at ${record.commit}. Run all of it again, or some of the locks; a lock takes less than a minute:`,
    '```sh\nnpm run known-bugs\nnpm run known-bugs -- --only lost-wake-up,control-blocking\n```',
  ].join('\n\n')}\n`;
}

const intro = `A verdict is worth what it catches. These locks have bugs that are known from the world. Each is a lock that works, with one
change. It still seems to work, and most of these locks sell for hours without a loss. Each of them went through the
[contract](grade.md), the [drills](drills.md) and the [search](prove.md). The table says what each part found that the same lock without the
bug does not show. The changes are in [test/known-bugs](../test/known-bugs/bugs.ts).`;

const correctIntro = `A verdict that finds a fault in everything is worth nothing. These locks have no bug. They fail only what they do not
promise: no lock in one Redis outlives the loss of that Redis, and without a fencing token nothing stops a write that comes too late.`;

const headings: { [part in Part]: string } = { contract: 'contract', drills: 'drills', search: 'search' };

/** What a row fails although it promises it. */
export function faultsOf(row: Row): string[] {
  return parts.flatMap((part) =>
    row[part].filter(({ notPromised }) => notPromised === undefined).map(({ name }) => name),
  );
}

const named = (names: string[]) => [...new Set(names)].map((name) => `\`${name}\``).join(', ') || '–';

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function day(iso: string): string {
  return new Date(iso).toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
}
