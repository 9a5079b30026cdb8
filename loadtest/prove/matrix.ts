// Prints the matrix of a run, and counterexamples as numbered steps.

import pc from 'picocolors';
import type { Cell } from '../../prove/cell.ts';
import { numbered } from '../../prove/words.ts';
import { callOf } from '../../stack/call-of.ts';
import { countOf, formatOrders } from '../narration/numbers.ts';
import { hanging, signTable } from '../report/terminal.ts';
import { scopeNames } from './plan.ts';

type Looked = Pick<Cell, 'stage' | 'scope' | 'processes' | 'verdict'>;
type Judged = Looked & Pick<Cell, 'reason'> & { expected: 'holds' | 'fails' | null };

/** The printed matrix: a row for each lock, in the order of the cells, and a column for each scope. */
export function matrixLines(cells: Looked[]): string[] {
  const scopes = scopeNames.filter((name) => cells.some(({ scope }) => scope === name));
  const most = Math.max(...cells.map(({ processes }) => processes));
  const rows = [...new Set(cells.map(({ stage }) => stage))].map((name) => {
    const cellsIn = (scope: string) => cells.filter((cell) => cell.stage === name && cell.scope === scope);
    return { name, signs: scopes.map((scope) => signOf(cellsIn(scope), most)) };
  });
  return signTable(scopes, rows);
}

/** One sign for all cells of a lock in a scope, which differ in their number of processes; – if there are none. */
function signOf(cells: Looked[], most: number): string {
  if (cells.length === 0) return pc.dim('–');
  if (cells.some(({ verdict }) => verdict === 'fails')) return pc.red('✘');
  const held = cells.filter(({ verdict }) => verdict === 'holds');
  const processes = Math.max(...held.map(({ processes }) => processes));
  if (held.length === cells.length && processes === most) return pc.green('✔');
  return held.length > 0 ? pc.green(String(processes)) : pc.yellow('?');
}

/** Explains the letters in reasons and steps. */
const processes = 'A, B and C are processes, in the order in which they start.';

export const legend =
  '✔ holds in every interleaving   ✘ there is a counterexample   2 holds with two processes; with three not every interleaving was checked   ? unknown   – does not apply';

/** The cells that are not as expected: the smallest cell for each lock and scope. */
export function faultLines(amiss: Judged[]): string[] {
  const first = amiss.filter(
    (cell, at) => amiss.findIndex(({ stage, scope }) => stage === cell.stage && scope === cell.scope) === at,
  );
  const lines = first.map((cell) => {
    const sign = { fails: '✘', holds: '✔', unknown: '?' }[cell.verdict];
    return hanging(`${nameOfCell(cell)}: ${sign} `, differenceOf(cell));
  });
  return lines.length > 0
    ? [...lines, '', processes, `For the steps of a counterexample: ${callOf('prove')}, with its lock and its --scope.`]
    : [];
}

/** The expected and the actual verdict of a cell that is not as expected. */
export function differenceOf({ expected, reason }: Judged): string {
  if (expected === null) return reason;
  return expected === 'holds'
    ? `It is expected to hold, but it fails. ${reason}`
    : 'A counterexample is expected, but it holds.';
}

/** A sentence that says how much was checked, on which server. */
export function summaryOf(cells: Pick<Cell, 'states'>[], server: string): string {
  const states = cells.reduce((sum, cell) => sum + cell.states, 0);
  return `${countOf(cells.length, 'cell')}, on a real ${server}: ${states.toLocaleString('en')} states.`;
}

/** A cell in one line: `4-ttl · slow-holder · 2 processes`. */
export function nameOfCell({ stage, scope, processes }: Pick<Cell, 'stage' | 'scope' | 'processes'>): string {
  return `${stage} · ${scope} · ${countOf(processes, 'process', 'processes')}`;
}

/** A cell with all of its details. */
export function cellLines(cell: Cell, indent = '') {
  const { says, verdict, reason, states, schedules, counterexample, replayed, cut } = cell;
  const signs = { holds: pc.green('✔ holds'), fails: pc.red('✘ fails'), unknown: pc.yellow('? unknown') };
  const orders = schedules > 0 ? `, ${formatOrders(schedules)} interleavings` : '';
  const open = cut > 0 && verdict === 'unknown' ? `, ${cut.toLocaleString('en')} branches not followed` : '';
  const again = replayed ? ` Replayed ${replayed} times: the same each time.` : '';
  return [
    `${indent}${nameOfCell(cell)}   ${signs[verdict]}`,
    hanging(`${indent}  `, `${says} ${reason}${again}`.trimEnd()),
    ...(counterexample ? [`${indent}  ${processes}`] : []),
    `${indent}  ${states.toLocaleString('en')} states${orders}${open}.`,
    ...numbered(counterexample ?? [], (start, text) => hanging(`${indent}  ${start}`, text)),
  ];
}
