// Prints the matrix of a run, and counterexamples as numbered steps.

import pc from 'picocolors';
import type { Cell } from '../../prove/cell.ts';
import { callOf } from '../../stack/call-of.ts';
import { countOf, formatNumber, formatOrders } from '../narration/numbers.ts';
import { either, sentencesSaid } from '../narration/spoken.ts';
import { hanging, signTable } from '../report/terminal.ts';
import { scopeNames } from './plan.ts';
import { scopeSaid, searchSaid, stepsSaid } from './said.ts';

type Looked = Pick<Cell, 'stage' | 'scope' | 'processes' | 'verdict'>;
type Judged = Looked & Pick<Cell, 'reason'> & Partial<Pick<Cell, 'why'>> & { expected: 'holds' | 'fails' | null };

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

/** Who the letters in reasons and steps are. */
const processes = () =>
  either('A, B and C are processes, in the order in which they start.', 'A、B、C 是进程，按启动的顺序命名。');

export const legend = () =>
  either(
    '✔ holds in every interleaving   ✘ there is a counterexample   2 holds with two processes; with three not every interleaving was checked   ? unknown   – does not apply',
    '✔ 所有交错都成立   ✘ 有反例   2 两个进程时成立，三个进程时没有检查完   ? 未知   – 不适用',
  );

/** The cells that are not as expected: the smallest cell for each lock and scope. */
export function faultLines(amiss: Judged[]): string[] {
  const first = amiss.filter(
    (cell, at) => amiss.findIndex(({ stage, scope }) => stage === cell.stage && scope === cell.scope) === at,
  );
  const lines = first.map((cell) => {
    const sign = { fails: '✘', holds: '✔', unknown: '?' }[cell.verdict];
    return hanging(`${nameSaid(cell)}${either(': ', '：')}${sign} `, differenceSaid(cell));
  });
  return lines.length > 0
    ? [
        ...lines,
        '',
        processes(),
        either(
          `For the steps of a counterexample: ${callOf('prove')}, with its lock and its --scope.`,
          `查看反例的步骤：${callOf('prove')}，加上锁和 --scope。`,
        ),
      ]
    : [];
}

/** The expected and the actual verdict of a cell that is not as expected. */
export function differenceOf({ expected, reason }: Judged): string {
  if (expected === null) return reason;
  return expected === 'holds'
    ? `It is expected to hold, but it fails. ${reason}`
    : 'A counterexample is expected, but it holds.';
}

/** The same in the language that is spoken. */
export function differenceSaid(cell: Judged): string {
  const { expected, reason, why } = cell;
  const said = why === undefined ? reason : searchSaid(why);
  if (expected === null) return said;
  const chinese =
    expected === 'holds' ? sentencesSaid(['文档说它成立，结果不成立。', said]) : '文档说有反例，结果成立。';
  return either(differenceOf(cell), chinese);
}

/** A sentence that says how much was checked, on which server. */
export function summaryOf(cells: Pick<Cell, 'states'>[], server: string): string {
  const states = cells.reduce((sum, cell) => sum + cell.states, 0);
  return either(
    `${countOf(cells.length, 'cell')}, on a real ${server}: ${states.toLocaleString('en')} states.`,
    `${formatNumber(cells.length)} 个单元格，在真实的 ${server} 上：${formatNumber(states)} 个状态。`,
  );
}

/** A cell in one line: `4-ttl · slow-holder · 2 processes`. */
export function nameOfCell({ stage, scope, processes }: Pick<Cell, 'stage' | 'scope' | 'processes'>): string {
  return `${stage} · ${scope} · ${countOf(processes, 'process', 'processes')}`;
}

/** The same in the language that is spoken. */
export const nameSaid = (cell: Pick<Cell, 'stage' | 'scope' | 'processes'>) =>
  either(nameOfCell(cell), `${cell.stage} · ${cell.scope} · ${cell.processes} 个进程`);

/** A cell with all of its details. */
export function cellLines(cell: Cell, indent = '') {
  const { scope, says, verdict, why, states, schedules, counterexample, replayed, cut } = cell;
  const signs = {
    holds: pc.green(either('✔ holds', '✔ 通过')),
    fails: pc.red(either('✘ fails', '✘ 不通过')),
    unknown: pc.yellow(either('? unknown', '? 未知')),
  };
  const [seen, all, left] = [formatNumber(states), formatOrders(schedules), formatNumber(cut)];
  const orders = schedules > 0 ? either(`, ${all} interleavings`, `，${all.replace(/^about /, '约 ')} 种交错`) : '';
  const open =
    cut > 0 && verdict === 'unknown' ? either(`, ${left} branches not followed`, `，${left} 个分支没有检查`) : '';
  const again = replayed
    ? either(`Replayed ${replayed} times: the same each time.`, `重放 ${replayed} 次，每次都一样。`)
    : '';
  return [
    `${indent}${nameSaid(cell)}   ${signs[verdict]}`,
    hanging(`${indent}  `, sentencesSaid([scopeSaid(scope, says), searchSaid(why), again])),
    ...(counterexample ? [`${indent}  ${processes()}`] : []),
    `${indent}  ${either(`${seen} states${orders}${open}.`, `${seen} 个状态${orders}${open}。`)}`,
    ...stepsSaid(counterexample ?? [], (start, text) => hanging(`${indent}  ${start}`, text)),
  ];
}
