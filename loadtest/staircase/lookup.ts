// Every staircase, and what it says of a row, of a column, and of the cell where they meet.

import { type Backend, backendOf, locks } from '../../locks/index.ts';
import { guardStaircase } from './guards.ts';
import { keyStaircase } from './keys.ts';
import { lockStaircase } from './lock-stages.ts';
import { refundStaircase } from './refunds.ts';
import { reportStaircase, scheduleStaircase } from './schedules.ts';
import type { Column, Row, Sign, Staircase } from './staircase.ts';
import { storeStaircase } from './stores.ts';

/** Those of the orders, as a run shows them. */
export const orderStaircases = [
  guardStaircase,
  scheduleStaircase,
  reportStaircase,
  keyStaircase,
  refundStaircase,
  storeStaircase,
];
/** Every staircase that a run may show. */
export const staircases = [lockStaircase, ...orderStaircases];

/** Where external locks keep their lock, by their rows: those that keep it elsewhere than in one Redis. */
const externalBackends = new Map<string, Backend>();

/** Says where an external lock keeps its lock. Nothing else is known of it. */
export function addExternalRow(row: string, backend: Backend) {
  externalBackends.set(row, backend);
}

/** Where the lock of a row is kept. */
export function backendOfRow(row: string): Backend {
  return externalBackends.get(row) ?? backendOf(row);
}

/** True for an external lock: nothing is expected of it. */
export function isExternal(row: string): boolean {
  return rowOf(row) === undefined;
}

/** The row of this name. Undefined for an external lock. */
export function rowOf(name: string): Row | undefined {
  const { rows } = staircaseOf(name);
  return Object.hasOwn(rows, name) ? rows[name] : undefined;
}

/** The staircase that this row is in. An external lock stands among the locks. */
export function staircaseOf(row: string): Staircase {
  return staircases.find(({ rows }) => Object.hasOwn(rows, row)) ?? lockStaircase;
}

/** The column of this name, in whichever staircase. Undefined when there is none. */
export function columnOf(drill: string): Column | undefined {
  return staircases.find(({ columns }) => Object.hasOwn(columns, drill))?.columns[drill];
}

/** The names of the columns of a staircase: of the one that has this column. */
export function columnsWith(drill: string): string[] {
  const { columns } = staircases.find(({ columns }) => Object.hasOwn(columns, drill)) ?? lockStaircase;
  return Object.keys(columns);
}

/** The names of all columns, staircase after staircase. */
export const columnNames: string[] = staircases.flatMap(({ columns }) => Object.keys(columns));

/** What the staircase says of a cell: null where it is left to the measurement. */
export function verdictExpected(row: string, drill: string): 'pass' | 'fail' | null {
  const sign = signOf(row, drill);
  if (sign === '✔') return 'pass';
  return sign === '✘' ? 'fail' : null;
}

/** True when the row passes a drill that the row before it fails. */
export function fixes(row: string, drill: string): boolean {
  const before = rowOf(row)?.before;
  return before !== undefined && verdictExpected(before, drill) === 'fail' && verdictExpected(row, drill) === 'pass';
}

/** True where the row has nothing that the drill could break. */
export function hasNothingToBreak(row: string, drill: string): boolean {
  return signOf(row, drill) === '–';
}

/** What the table of a staircase says of a cell. Undefined when the column stands in another staircase. */
function signOf(row: string, drill: string): Sign | undefined {
  const known = rowOf(row);
  if (known !== undefined) return Object.hasOwn(known.signs, drill) ? known.signs[drill] : undefined;
  // What can break no stage asks for several masters, which an external lock has when it says so.
  const isAlike = (name: string) => name in locks || (backendOfRow(row) === 'masters' && backendOf(name) === 'masters');
  const alike = Object.keys(lockStaircase.rows).filter(isAlike);
  return alike.some((name) => ![undefined, '–'].includes(signOf(name, drill))) ? '·' : '–';
}
