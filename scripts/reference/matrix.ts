// The result matrix: what is expected of each lock in each drill, and which rows of the orders fail which drill.

import { lockStaircase } from '../../loadtest/staircase/lock-stages.ts';
import { orderStaircases } from '../../loadtest/staircase/lookup.ts';
import { type Staircase, shortNameOf } from '../../loadtest/staircase/staircase.ts';
import { beyond } from '../../locks/index.ts';
import { capitalized, codeOf } from './markdown.ts';

/** A drill that applies to no more locks than this has no row. */
const FEW_LOCKS = 3;
/** More failing rows than this are told by those that do not fail. */
const FEW_ROWS = 6;

/**
 * A row for each drill and a column for each lock. The stages are numbers above theirs. The names of the others stand above, each with a line
 * that leads down to its column; those that come out alike share one.
 */
export function matrix(): string {
  const all = Object.keys(lockStaircase.columns);
  const drills = all.filter((drill) => locksIn(drill).length > FEW_LOCKS);
  const signs = Object.entries(lockStaircase.rows).map(([lock, row]) => ({
    lock,
    column: drills.map((drill) => row.signs[drill] ?? '–'),
  }));
  const stages = signs.filter(({ lock }) => !Object.hasOwn(beyond, lock));
  const others = signs.filter(({ lock }) => Object.hasOwn(beyond, lock));
  const isLike = (one: string[], other: string[]) => one.join('') === other.join('');
  const columns = others.filter((each, at) => others.findIndex((other) => isLike(each.column, other.column)) === at);
  const namesOf = (column: string[]) => others.filter((each) => isLike(each.column, column)).map(({ lock }) => lock);

  const width = Math.max(...drills.map((drill) => drill.length)) + 1;
  const margin = ' '.repeat(width);
  const besideStages = ' '.repeat(2 * stages.length);
  const headings = columns.map(
    ({ column }, at) => `${margin}${besideStages}${'| '.repeat(at)}${namesOf(column).join(', ')}`,
  );
  const numbers = [...stages.map((_, stage) => stage), ...columns.map(() => '|')].join(' ');
  const rows = drills.map(
    (drill, at) => drill.padEnd(width) + [...stages, ...columns].map(({ column }) => column[at]).join(' '),
  );
  const ofFew = all
    .filter((drill) => !drills.includes(drill))
    .map(
      (drill) =>
        `${codeOf(drill)} (${locksIn(drill)
          .map(({ lock, sign }) => `${lock} ${sign}`)
          .join(', ')})`,
    );
  const table = ['```text', ...headings, margin + numbers, ...rows, '```'].join('\n');
  return `${table}\n\nThese apply to a few locks only: ${ofFew.join(', ')}.`;
}

/** The locks in which a drill has something to break, each with its sign. */
const locksIn = (drill: string) =>
  Object.entries(lockStaircase.rows)
    .map(([lock, { signs }]) => ({ lock, sign: signs[drill] ?? '–' }))
    .filter(({ sign }) => sign !== '–');

/** The drills of the orders: what each asks, and which rows fail it. */
export function orderMatrices(): string {
  return orderStaircases.map(orderMatrix).join('\n\n');
}

function orderMatrix({ title: [title], columns, rows }: Staircase): string {
  const names = Object.keys(rows);
  const lines = Object.entries(columns).map(([drill, { asks }]) => {
    const fails = names.filter((row) => rows[row]?.signs[drill] === '✘');
    const others = names.filter((row) => !fails.includes(row));
    const told = fails.length > FEW_ROWS ? ['all', listOf(others)].filter(Boolean).join(' but ') : listOf(fails);
    return `- ${codeOf(drill)}: ${capitalized(asks)} ✘ ${told}`;
  });
  const [prefix = ''] = (names[0] ?? '').split(shortNameOf(names[0] ?? ''));
  return `${title} (rows ${codeOf(`${prefix}…`)}):\n\n${lines.join('\n')}`;
}

const listOf = (rows: string[]) => rows.map(shortNameOf).join(', ');
