// A result matrix (a "staircase"): rows, columns, and the expected sign of each cell.

import { existsSync, readFileSync } from 'node:fs';
import type { Backend } from '../../locks/index.ts';
import type { StackOptions } from '../../stack/stack.ts';
import type { StepFigures, Verdict } from '../evidence/results.ts';
import type { Both } from '../narration/language.ts';
import { readTable } from './table.ts';
import { orderStack } from './usual-settings.ts';

/** ✔ holds, ✘ fails, · is only measured, – has nothing to break. */
const signs = ['✔', '✘', '·', '–'] as const;
export type Sign = (typeof signs)[number];

/**
 * What the drills of a group ask. Safety: are two inside, is a sale lost? Liveness: does somebody get in, soon, and in which
 * order? Outages: what remains of that when a server fails? Cost and traces: what does waiting cost, and what does it leave behind?
 */
export const groups = ['Safety', 'Liveness', 'Outages', 'Cost and traces'] as const;
export type Group = (typeof groups)[number];
export const groupTitles: Record<Group, Both> = {
  Safety: ['Safety', '安全性'],
  Liveness: ['Liveness', '活性'],
  Outages: ['Outages', '服务器故障'],
  'Cost and traces': ['Cost and traces', '代价和残留'],
};

/** A result matrix. No two matrices share the name of a row or a column. */
export interface Staircase {
  /** What stands above it. */
  title: Both;
  /** What a row is, in one word. */
  rowWord: Both;
  /** In their order, from left to right. */
  columns: Record<string, Column>;
  /** In their order, from top to bottom. */
  rows: Record<string, Row>;
}

/** A stage, a strategy or a protection against duplicate runs. */
export interface Row {
  /** Its heading. */
  title: Both;
  /** What is expected, by the names of the columns. */
  signs: Record<string, Sign>;
  /** The row that it is compared with: what that one fails and this one holds, this one fixes. */
  before?: string | undefined;
  /** The file that tells its story in its first lines, from the project's folder. */
  story?: string | undefined;
  /** A story leaves it out, unless it is named. */
  isAside?: boolean;
  /** The servers that it needs. */
  backends: Backend[];
  /** What its nodes are started with. Rows whose stacks have one name share them. */
  stack?: { name: string; options: StackOptions };
}

/** What its rows are, in English. */
export const rowsWordOf = ({ rowWord: [word] }: Pick<Staircase, 'rowWord'>) => `${word.replace(/y$/, 'ie')}s`;

/** A row of the orders without what keeps its name apart from those of the other staircases: `none` of `guard-none`. */
export const shortNameOf = (row: string) => row.replace(/^(guard|schedule|report|refund|key|stores)-/, '');

/** A drill. */
export interface Column {
  /** The question that the drill asks, in English. */
  asks: string;
  /** Of a staircase that is shown in groups. */
  group?: Group;
  /** The story leaves it out where a stage fails it: no stage fixes it. */
  isAside?: true;
  /** It asks for an option of the nodes: no story tells of it. */
  isOption?: true;
  /** The figure that decided about a cell of a drill that goes step by step, in two or three words of the language that is spoken. */
  figure?: (figures: StepFigures, verdict: Verdict) => string | undefined;
}

/** A row whose signs are in a table. */
export type UnreadRow = Omit<Row, 'signs'>;

/** A result matrix whose table is not parsed yet. The table lists its rows and columns, in order. */
interface UnreadStaircase extends Omit<Staircase, 'rows' | 'columns'> {
  table: string;
  /** The rows that the table must have. Any when they are not given. */
  rowNames?: string[];
  /** `above`: the row before it in the table. */
  row(name: string, above: string | undefined): UnreadRow;
  /** A drill that is a page asks what stands there. Absent where nothing else is said of one. */
  columns?: Record<string, Partial<Column>>;
  /** Of each column that has no own. */
  figure?: NonNullable<Column['figure']>;
}

/** Throws when the table does not have exactly the given rows and columns, or when a cell has no sign. */
export function readStaircase({ table, columns, figure, rowNames, row, ...words }: UnreadStaircase): Staircase {
  const expected = readTable(table, { columns: columns && Object.keys(columns), rows: rowNames, signs });
  const columnOf = (name: string): Column => ({
    asks: questionOfPage(name),
    ...(figure && { figure }),
    ...columns?.[name],
  });
  const rows = Object.entries(expected.rows);
  return {
    ...words,
    columns: Object.fromEntries(expected.columns.map((name) => [name, columnOf(name)])),
    rows: Object.fromEntries(rows.map(([name, signs], at) => [name, { ...row(name, rows[at - 1]?.[0]), signs }])),
  };
}

/** The question of a scenario, with a lower-case first letter. Empty when there is no scenario of this name. */
export function questionOfPage(name: string): string {
  const places = ['scenarios', 'orders'].map((folder) => new URL(`../${folder}/${name}.txt`, import.meta.url));
  const file = places.find((place) => existsSync(place));
  const question = file && readFileSync(file, 'utf8').split('\n')[1]?.trim();
  return question ? question.charAt(0).toLowerCase() + question.slice(1) : '';
}

interface OrderStaircase extends Omit<UnreadStaircase, 'columns' | 'row'> {
  /** Begins the names of its rows, so that no two staircases share one; `kind` begins their headings. */
  prefix: string;
  kind: Both;
  /** By its short name, as those of the rows before it: it is compared with the one above it when it names no other. */
  row(name: string, above: string | undefined): Partial<UnreadRow>;
}

/** A result matrix of the orders. All of its rows need MySQL. */
export function readOrderStaircase({ prefix, kind, row, ...others }: OrderStaircase): Staircase {
  return readStaircase({
    ...others,
    row(longName, longAbove) {
      const [name, above] = [shortNameOf(longName), longAbove && shortNameOf(longAbove)];
      const { before = above, ...own } = row(name, above);
      const title: Both = [`${kind[0]} · ${name}`, `${kind[1]} · ${name}`];
      return { title, backends: ['mysql'], stack: orderStack, before: before && `${prefix}-${before}`, ...own };
    },
  });
}
