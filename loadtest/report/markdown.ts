// The tables of a run as text, to be shown on a page: `--markdown` prints them.

import { formatMoment } from '../evidence/numbers.ts';
import type { Results } from '../evidence/results.ts';
import {
  type Cell,
  isAsTaught,
  isBeyondPromise,
  keyFigure,
  partsOf,
  type RanStaircase,
  ranStaircases,
} from './cells.ts';
import { signs } from './marks.ts';

/** The staircases, or the checks of graded locks. The run and its date stand below. */
export function renderTables(results: Results): string {
  const { command, startedAt, grades } = results;
  const blocks = grades ? [checkTable(results)] : ranStaircases(results).flatMap(staircaseTable);
  return `${[...blocks, `_From \`${command}\` on ${formatMoment(startedAt).split(',')[0]}._`].join('\n\n')}\n`;
}

const marks = { ...signs, 'left-out': 'left out', blank: '' };

function staircaseTable(ran: RanStaircase): string[] {
  const { title, rowWord } = ran.staircase;
  if (ran.rows.length === 0) return [`## ${title}`, 'Nothing was run.'];
  return [
    `## ${title}`,
    ...partsOf(ran).flatMap(({ group, drills, rows }) => [
      ...(group === undefined ? [] : [`### ${group}`]),
      table(
        [rowWord, ...drills],
        rows.map(({ stage, cells }) => [stage, ...cells.map(cellText)]),
      ),
    ]),
    '✔ holds, ✘ fails, ? unknown, – not applicable. A cell that is not as expected says so.',
  ];
}

/** A row for each check, and a column for each lock. */
function checkTable(results: Results): string {
  const checks = [...new Set(results.stages.flatMap(({ drills }) => drills.map(({ drill }) => drill)))];
  const rows = checks.map((check) => [
    check,
    ...results.stages.map(({ stage, drills }) => {
      const result = drills.find(({ drill }) => drill === check);
      if (result === undefined) return '';
      return isBeyondPromise(results, stage, result) ? `(${signs.fail})` : signs[result.verdict];
    }),
  ]);
  return table(['check', ...results.stages.map(({ stage }) => stage)], rows);
}

function cellText({ state, result }: Cell) {
  const figure = result && keyFigure(result);
  const off = result && isAsTaught(result) === false ? `(not expected: ${result.taught})` : undefined;
  return [marks[state], figure, off].filter(Boolean).join(' ');
}

function table(head: string[], rows: string[][]): string {
  const cells = [head, ...rows].map((row) => row.map(plain));
  const widths = head.map((_, column) => Math.max(3, ...cells.map((row) => row[column]?.length ?? 0)));
  const lines = cells.map((row) => `| ${row.map((text, column) => text.padEnd(widths[column] ?? 0)).join(' | ')} |`);
  const rule = widths.map((width) => '-'.repeat(width + 2)).join('|');
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
