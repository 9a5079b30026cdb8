// The tables of a run as text, to be shown on a page: `--markdown` prints them.

import stringWidth from 'string-width';
import type { Results } from '../evidence/results.ts';
import { inLanguage } from '../narration/language.ts';
import { daySaid, either } from '../narration/spoken.ts';
import { checkNames } from '../staircase/conformance.ts';
import { standingOf } from '../staircase/judge-run.ts';
import { groupTitles } from '../staircase/staircase.ts';
import { type Cell, cellsIn, keyFigure, partsOf, type RanStaircase, ranStaircases, whyNotPromised } from './cells.ts';
import { signs, wordOf } from './marks.ts';
import { padded } from './terminal.ts';

/** The staircases, or the checks of graded locks. The run and its date stand below. */
export function renderTables(results: Results): string {
  const { command, startedAt, grades, environment } = results;
  const blocks = grades ? [checkTable(results)] : ranStaircases(results).flatMap(staircaseTable);
  const node = environment.node.replace('v', '');
  const where = grades ? either(`, in simulated time, with Node ${node}`, `，模拟时间，Node ${node}`) : '';
  const day = daySaid(startedAt);
  const run = either(`_From \`${command}\` on ${day}${where}._`, `_来自 ${day}的 \`${command}\`${where}。_`);
  return `${[...blocks, run].join('\n\n')}\n`;
}

const marks = () => ({ ...signs, 'left-out': either('left out', '没有运行'), blank: '' });

function staircaseTable(ran: RanStaircase): string[] {
  const [title, rowWord] = [ran.staircase.title, ran.staircase.rowWord].map((text) => inLanguage(text)) as [
    string,
    string,
  ];
  return [
    `## ${title}`,
    ...partsOf(ran).flatMap(({ group, drills }) => [
      ...(group === undefined ? [] : [`### ${inLanguage(groupTitles[group])}`]),
      table(
        [rowWord, ...drills].map(plain),
        ran.stages.map((stage) => [stage, ...drills.map((drill) => cellText(ran.cellAt(stage, drill)))].map(plain)),
      ),
    ]),
    either(
      '✔ holds, ✘ fails, ? unknown, – not applicable. A cell that is not as expected says so.',
      '✔ 通过，✘ 不通过，? 未知，– 不适用。不符合预期的单元格会注明。',
    ),
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
  return table([either('check', '检查'), ...locks.map(plain)], rows, true);
}

function cellText({ state, result }: Cell) {
  const figure = result && keyFigure(result);
  const off = result && standingOf(result) === 'not as expected' ? offIn(result.expected) : undefined;
  return [marks()[state], figure, off].filter(Boolean).join(' ');
}

const offIn = (expected: 'pass' | 'fail' | null) =>
  expected === null
    ? ''
    : either(`(not expected: it should ${expected === 'pass' ? 'hold' : 'fail'})`, `（预期${wordOf(expected)}）`);

/** Of cells that are Markdown; signs stand in the middle of their column. */
function table(head: string[], rows: string[][], isOfSigns = false): string {
  const cells = [head, ...rows];
  const widths = head.map((_, column) => Math.max(3, ...cells.map((row) => stringWidth(row[column] ?? ''))));
  const lines = cells.map((row) => `| ${row.map((text, column) => padded(text, widths[column] ?? 0)).join(' | ')} |`);
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
