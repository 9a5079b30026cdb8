// The tables of a run as text, to be shown on a page: `--markdown` prints them.

import type { Results } from '../evidence/results.ts';
import { formatDay } from '../narration/numbers.ts';
import { checkNames } from '../staircase/conformance.ts';
import { standingOf } from '../staircase/judge-run.ts';
import { type Cell, cellsIn, keyFigure, partsOf, type RanStaircase, ranStaircases, whyNotPromised } from './cells.ts';
import { signs } from './marks.ts';

/** The staircases, or the checks of graded locks. The run and its date stand below. */
export function renderTables(results: Results): string {
  const { command, startedAt, grades, environment } = results;
  const blocks = grades ? [checkTable(results)] : ranStaircases(results).flatMap(staircaseTable);
  const where = grades ? `, in virtual time, with Node ${environment.node.replace('v', '')}` : '';
  const run = `_From \`${command}\` on ${formatDay(startedAt)}${where}._`;
  return `${[...blocks, run].join('\n\n')}\n`;
}

const marks = { ...signs, 'left-out': 'left out', blank: '' };

function staircaseTable(ran: RanStaircase): string[] {
  const { title, rowWord } = ran.staircase;
  return [
    `## ${title}`,
    ...partsOf(ran).flatMap(({ group, drills }) => [
      ...(group === undefined ? [] : [`### ${group}`]),
      table(
        [rowWord, ...drills].map(plain),
        ran.stages.map((stage) => [stage, ...drills.map((drill) => cellText(ran.cellAt(stage, drill)))].map(plain)),
      ),
    ]),
    '✔ holds, ✘ fails, ? unknown, – not applicable. A cell that is not as expected says so.',
  ];
}

/** A row for each check, and a column for each lock. What was left out is unknown. */
function checkTable(results: Results): string {
  const { stages, leftOut, grades = [] } = results;
  const found = stages.flatMap(({ stage, drills }) => drills.map((result) => ({ stage, result })));
  const names = [...found.map(({ result }) => result), ...cellsIn(leftOut)].map(({ drill }) => drill);
  const checks = [...new Set([...checkNames.filter((name) => names.includes(name)), ...names])];
  const locks = grades.flatMap(({ stage, problem }) => (problem === undefined ? [stage] : []));
  const signOf = (lock: string, check: string) => {
    const result = found.find(({ stage, result }) => stage === lock && result.drill === check)?.result;
    if (result === undefined) return leftOut.includes(`${lock} ${check}`) ? signs.unknown : '';
    return whyNotPromised(results, lock, result) ? `(${signs.fail})` : signs[result.verdict];
  };
  const rows = checks.map((check) => [`\`${check}\``, ...locks.map((lock) => signOf(lock, check))]);
  return table(['check', ...locks.map(plain)], rows, true);
}

function cellText({ state, result }: Cell) {
  const figure = result && keyFigure(result);
  const off = result && standingOf(result) === 'not as expected' ? `(not expected: ${result.expected})` : undefined;
  return [marks[state], figure, off].filter(Boolean).join(' ');
}

/** Of cells that are Markdown; signs stand in the middle of their column. */
function table(head: string[], rows: string[][], isOfSigns = false): string {
  const cells = [head, ...rows];
  const widths = head.map((_, column) => Math.max(3, ...cells.map((row) => row[column]?.length ?? 0)));
  const lines = cells.map((row) => `| ${row.map((text, column) => text.padEnd(widths[column] ?? 0)).join(' | ')} |`);
  const ruleOf = (width: number, column: number) =>
    isOfSigns && column > 0 ? `:${'-'.repeat(width)}:` : '-'.repeat(width + 2);
  const rule = widths.map(ruleOf).join('|');
  return [lines[0], `|${rule}|`, ...lines.slice(1)].join('\n');
}

/** Any text as one line that Markdown shows as it stands. */
function plain(text: string): string {
  return text
    .replace(/[\\`*[\]<>|]/g, '\\$&')
    .replace(/(?<!\w)_|_(?!\w)/g, '\\_')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^[#+-]/, '\\$&');
}
