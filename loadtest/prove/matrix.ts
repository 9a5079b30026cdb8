// The matrix of a run on the terminal, and counterexamples as numbered steps.

import pc from 'picocolors';
import type { Cell } from '../../prove/cell.ts';
import { numbered } from '../../prove/words.ts';
import { countOf, listOf } from '../evidence/numbers.ts';
import { formatOrders } from './claim.ts';
import { scopeNames } from './plan.ts';

/** A row for each lock, a column for each scope. */
export function matrixLines(cells: Cell[]): string[] {
  const stages = [...new Set(cells.map(({ stage }) => stage))];
  const named = new Set(cells.map(({ scope }) => scope));
  const scopes = scopeNames.filter((name) => named.has(name));
  const width = Math.max(...stages.map((name) => name.length)) + 2;
  const heads = scopes.map((name, at) => `${' '.repeat(width)}${'│  '.repeat(at)}${name}`);
  const rows = stages.map((stage) => {
    const signs = scopes.map((scope) => signOf(cells.filter((cell) => cell.stage === stage && cell.scope === scope)));
    return `${stage.padEnd(width)}${signs.join('  ')}`;
  });
  return [...heads, ...rows];
}

/** One sign for the cells of a lock in a scope, which have different numbers of processes. */
function signOf(cells: Cell[]): string {
  if (cells.length === 0) return pc.dim('–');
  if (cells.some(({ verdict }) => verdict === 'fails')) return pc.red('✘');
  const held = cells.filter(({ verdict }) => verdict === 'holds');
  if (held.length === cells.length) return pc.green('✔');
  return held.length > 0 ? pc.green(String(Math.max(...held.map(({ processes }) => processes)))) : pc.yellow('?');
}

export const legend =
  '✔ in no order of events   ✘ in some order: there is a counterexample   2 with two processes; with three not every order was looked at   ? unknown   – does not apply';

/** The cells that are not as expected, each lock and scope once: the smallest cell that shows it. */
export function faultLines(cells: Cell[], isAsExpected: (cell: Cell) => boolean): string[] {
  const amiss = cells.filter((cell) => !isAsExpected(cell));
  const first = amiss.filter(
    (cell, at) => amiss.findIndex(({ stage, scope }) => stage === cell.stage && scope === cell.scope) === at,
  );
  const lines = first.map(({ stage, scope, processes, verdict, reason }) => {
    const sign = verdict === 'fails' ? '✘' : verdict === 'holds' ? '✔, but a counterexample is taught' : '?';
    return `${stage} · ${scope} · ${processes} processes: ${sign} ${reason}`;
  });
  return lines.length > 0
    ? [...lines, '', 'For the steps of a counterexample: npm run prove, with its lock and its --scope.']
    : [];
}

/** What was looked at, on which server, in a sentence. */
export function summaryOf(cells: Cell[], server: string): string {
  const states = cells.reduce((sum, cell) => sum + cell.states, 0);
  const sizes = [...new Set(cells.map(({ sales }) => sales))].toSorted().map((sales) => {
    const of = cells.filter((cell) => cell.sales === sales);
    const counts = [...new Set(of.map(({ processes }) => processes))].toSorted();
    return `${counts.join(' and ')} processes × ${countOf(sales, 'sale')}`;
  });
  return `${listOf(sizes)}, on a real ${server}: ${states.toLocaleString('en')} states.`;
}

/** A cell with all that is known of it. */
export function cellLines({
  stage,
  scope,
  says,
  processes,
  verdict,
  reason,
  states,
  schedules,
  counterexample,
  replayed,
  cut,
}: Cell) {
  const signs = { holds: pc.green('✔ holds'), fails: pc.red('✘ fails'), unknown: pc.yellow('? unknown') };
  const orders = schedules > 0 ? `, ${formatOrders(schedules)} orders` : '';
  const open = cut > 0 && verdict === 'unknown' ? `, ${cut.toLocaleString('en')} branches not followed` : '';
  const again = replayed ? ` Replayed ${replayed} times: the same each time.` : '';
  return [
    `${stage} · ${scope} · ${processes} processes   ${signs[verdict]}`,
    `  ${says} ${reason}${again}`.trimEnd(),
    `  ${states.toLocaleString('en')} states${orders}${open}.`,
    ...numbered(counterexample ?? []).map((line) => `  ${line}`),
  ];
}
