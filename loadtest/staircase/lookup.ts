// Looks up rows, columns and cells in the result matrices.

import { type Backend, backendOf, isSemaphore, locks, type Strategy } from '../../locks/index.ts';
import { guardStaircase } from './guards.ts';
import { keyStaircase, refundStaircase } from './keys.ts';
import { lockStaircase } from './lock-stages.ts';
import { reportStaircase, scheduleStaircase } from './schedules.ts';
import type { Column, Row, Sign, Staircase } from './staircase.ts';
import { storeStaircase } from './stores.ts';

/** The result matrices of the orders, in the order of a run. */
export const orderStaircases = [
  guardStaircase,
  scheduleStaircase,
  reportStaircase,
  keyStaircase,
  refundStaircase,
  storeStaircase,
];
/** All result matrices that a run may show. */
export const staircases = [lockStaircase, ...orderStaircases];

/** What is known about external locks, by their rows. */
const externalRows = new Map<string, Pick<Strategy, 'backend' | 'isSemaphore'>>();

/** Says where an external lock keeps its lock, and whether it is a semaphore. Nothing else is known of it. */
export function addExternalRow(row: string, { backend, isSemaphore }: Pick<Strategy, 'backend' | 'isSemaphore'>) {
  externalRows.set(row, { backend, ...(isSemaphore && { isSemaphore }) });
}

/** Where the lock of a row is kept. */
export function backendOfRow(row: string): Backend {
  return externalRows.get(row)?.backend ?? backendOf(row);
}

/** True for a lock that lets in several holders at once. */
export function isSemaphoreRow(row: string): boolean {
  return externalRows.get(row)?.isSemaphore ?? isSemaphore(row);
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

/** The result matrix of this row. An external lock belongs to the locks. */
export function staircaseOf(row: string): Staircase {
  return staircases.find(({ rows }) => Object.hasOwn(rows, row)) ?? lockStaircase;
}

/** The column of this name in any result matrix. Undefined when there is none. */
export function columnOf(drill: string): Column | undefined {
  return staircases.find(({ columns }) => Object.hasOwn(columns, drill))?.columns[drill];
}

/** The names of all columns in the result matrix that has this column. */
export function columnsWith(drill: string): string[] {
  const { columns } = staircases.find(({ columns }) => Object.hasOwn(columns, drill)) ?? lockStaircase;
  return Object.keys(columns);
}

/** The names of all columns of all result matrices. */
export const columnNames: string[] = staircases.flatMap(({ columns }) => Object.keys(columns));

/** The expected verdict of a cell: null if there is none. */
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

/** True when the row has nothing for the drill to break. */
export function hasNothingToBreak(row: string, drill: string): boolean {
  return signOf(row, drill) === '–';
}

/** What the table of a staircase says of a cell. Undefined when the column stands in another staircase. */
function signOf(row: string, drill: string): Sign | undefined {
  const known = rowOf(row);
  if (known !== undefined) return Object.hasOwn(known.signs, drill) ? known.signs[drill] : undefined;
  // What can break no stage asks for several masters, or for a semaphore, which an external lock is when it says so.
  const isAlike = (name: string) =>
    isSemaphoreRow(row)
      ? isSemaphore(name)
      : name in locks || (backendOfRow(row) === 'masters' && backendOf(name) === 'masters');
  const alike = Object.keys(lockStaircase.rows).filter(isAlike);
  return alike.some((name) => ![undefined, '–'].includes(signOf(name, drill))) ? '·' : '–';
}
