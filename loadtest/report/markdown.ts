// The report as text.

import { countOf, formatDuration, formatMoment } from '../evidence/numbers.ts';
import type { Grade, Results } from '../evidence/results.ts';
import { staircaseOf } from '../staircase/lookup.ts';
import {
  type Cell,
  drillsAlone,
  isAsTaught,
  keyFigure,
  measuredRushes,
  measuredSteps,
  partsOf,
  type RanStaircase,
  ranChecks,
  ranStaircases,
} from './cells.ts';
import { environmentLines } from './environment.ts';
import { comparedFigures, stepLinesOf } from './figures.ts';
import { gradeLine, gradeRow, notPromised, optionLines } from './grades.ts';
import { countCells, summarize, titleOf } from './summary.ts';

const shownWitnesses = 3;

/** The report as text that reads well as it is, in a terminal as in a merge request. */
export function renderMarkdown(results: Results): string {
  const blocks = [
    `# ${titleOf(results)}`,
    `Lockstep, ${formatMoment(results.startedAt)}, ran for ${formatDuration(results.durationMs)}.`,
    ...listBlock((results.grades ?? []).map((grade) => gradeLine(grade, results))),
    plain(summarize(results).join(' ')),
    ...[countCells(results)].filter((text) => text !== ''),
    ...listBlock(results.verdictReasons),
    ...ranStaircases(results).flatMap(staircaseTable),
    ...contract(results),
    ...published(results),
    ...comparisons(results),
    ...steps(results),
    ...witnesses(results),
    ...howItWasRun(results),
  ];
  return `${blocks.join('\n\n')}\n`;
}

/** The table of a run alone, to be shown on a page: of graded locks a row each, else the staircase. The run and its date stand below. */
export function renderTables(results: Results): string {
  const { grades, command, startedAt } = results;
  const blocks = grades ? [gradeTable(grades, results)] : ranStaircases(results).flatMap(staircaseTable);
  return `${[...blocks, `_From \`${command}\` on ${formatMoment(startedAt).split(',')[0]}._`].join('\n\n')}\n`;
}

const gradeTable = (grades: Grade[], results: Results) =>
  table(
    ['lock', 'holds', 'fails what it promises', 'fails what it does not promise', 'unknown'],
    grades.map((grade) => gradeRow(grade, results)),
  );

const marks = {
  pass: '✔',
  fail: '✘',
  unknown: '?',
  'not-applicable': '–',
  'left-out': 'left out',
  blank: '',
} as const;

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
    '✔ pass, ✘ fail, ? unknown, – not applicable. A cell that is not as expected says so.',
  ];
}

/** The checks of each lock, with their sentences. */
function contract(results: Results): string[] {
  const rows = ranChecks(results);
  if (rows.length === 0) return [];
  return [
    '## The contract',
    ...rows.flatMap(({ stage, drills }) => [
      `### ${plain(stage)}`,
      listBlock(
        drills.flatMap(({ drill, verdict, reasons, witnesses }) => [
          `${marks[verdict]} ${drill}: ${reasons.join(' ')}`,
          ...witnesses.map((witness) => `${drill}, ${witness}`),
        ]),
      ).join('\n'),
    ]),
  ];
}

/** How the published locks were set, and what they do not promise. */
function published(results: Results): string[] {
  const grades = (results.grades ?? []).filter(({ options }) => options !== undefined);
  return grades.flatMap((grade) => {
    const lines = notPromised(grade, results);
    return [
      `## ${plain(grade.stage)}`,
      'It was given these options; the others are as the library sets them.',
      table(['option', 'value'], optionLines(grade)),
      ...(lines.length > 0 ? ['These drills ask for what it does not promise:', ...listBlock(lines)] : []),
    ];
  });
}

function cellText({ state, result }: Cell) {
  const figure = result && keyFigure(result);
  const off = result && isAsTaught(result) === false ? `(not expected: ${result.taught})` : undefined;
  return [marks[state], figure, off].filter(Boolean).join(' ');
}

function comparisons(results: Results): string[] {
  const head = ['stage', ...comparedFigures.map(({ name }) => name)];
  return measuredRushes(results).flatMap(({ drill, stages }) => {
    const rows = stages.map(({ stage, figures }) => [stage, ...comparedFigures.map(({ read }) => read(figures))]);
    return [`## ${plain(drill)}`, table(head, rows, true)];
  });
}

/** What a row is in the staircase that these are of. */
function rowWordOf([first]: { stage: string }[]): string {
  return staircaseOf(first?.stage ?? '').rowWord;
}

/** The figures of the drills that go step by step. */
function steps(results: Results): string[] {
  const drills = measuredSteps(results);
  if (drills.length === 0) return [];
  const hasSteps = results.stages.some(({ drills }) => drills.some(({ told }) => told !== undefined));
  return [
    '## Step by step',
    hasSteps
      ? 'report.html tells the steps of each of these drills.'
      : 'report.html draws each of these drills: who was inside, for how long, and what was done to them.',
    ...drills.flatMap(({ drill, stages }) => {
      const lines = stepLinesOf(stages.map(({ figures }) => figures));
      const rows = stages.map(({ stage, figures }) => [stage, ...lines.map(({ read }) => read(figures))]);
      return [`### ${plain(drill)}`, table([rowWordOf(stages), ...lines.map(({ name }) => name)], rows, true)];
    }),
  ];
}

function witnesses({ stages }: Results): string[] {
  const sections = drillsAlone(stages).flatMap(({ stage, drills }) =>
    drills
      .filter((result) => result.witnesses.length > 0 || (result.verdict !== 'pass' && result.reasons.length > 0))
      .flatMap(({ drill, verdict, reasons, witnesses, witnessCount }) => {
        const shown = witnesses.slice(0, shownWitnesses);
        const all = Math.max(witnessCount, witnesses.length);
        const more = all - shown.length;
        return [
          `### ${plain(`${stage} ${drill}`)}: ${verdict.replace('-', ' ')}`,
          ...(reasons.length > 0 ? [reasons.map(plain).join(' ')] : []),
          ...listBlock([...shown, ...(more > 0 && shown.length > 0 ? [`and ${countOf(more, 'more', 'more')}`] : [])]),
        ];
      }),
  );
  return sections.length > 0 ? ['## Reasons and witnesses', ...sections] : [];
}

function howItWasRun(results: Results): string[] {
  const { command, leftOut } = results;
  return [
    '## How it was run',
    command.replaceAll(/^/gm, '    '),
    table(['setting', 'value'], environmentLines(results)),
    ...(leftOut.length > 0 ? ['Left out:', ...listBlock(leftOut)] : []),
  ];
}

function listBlock(items: string[]): string[] {
  return items.length > 0 ? [items.map((item) => `- ${plain(item)}`).join('\n')] : [];
}

/** The first column is text. The others stand right when they hold figures. */
function table(head: string[], rows: string[][], isOfFigures = false): string {
  const cells = [head, ...rows].map((row) => row.map(plain));
  const widths = head.map((_, column) => Math.max(3, ...cells.map((row) => row[column]?.length ?? 0)));
  const pad = (text: string, column: number) =>
    isOfFigures && column > 0 ? text.padStart(widths[column] ?? 0) : text.padEnd(widths[column] ?? 0);
  const lines = cells.map((row) => `| ${row.map(pad).join(' | ')} |`);
  const rule = widths.map((width, column) => '-'.repeat(width + 1) + (isOfFigures && column > 0 ? ':' : '-')).join('|');
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
