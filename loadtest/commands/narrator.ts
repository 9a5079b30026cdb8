// What a run prints: the story of the stages, or a line for each cell.

import Table from 'cli-table3';
import pc from 'picocolors';
import { formatDuration, formatNumber } from '../evidence/numbers.ts';
import type { Answer, DrillResult, Results } from '../evidence/results.ts';
import type { Cell } from '../harness/drill.ts';
import type { Audience } from '../harness/run-cell.ts';
import type { Target } from '../harness/target.ts';
import {
  isAsTaught,
  isBeyondPromise,
  keyFigure,
  measuredRushes,
  partsOf,
  type Cell as RanCell,
  type RanStaircase,
  ranStaircases,
} from '../report/cells.ts';
import { comparedFigures } from '../report/figures.ts';
import { baselineLine } from '../report/grades.ts';
import { signTable } from '../report/sign-table.ts';
import { drillLines, marks, nameColumn, openingLines } from '../report/terminal.ts';
import { lockStaircase } from '../staircase/locks.ts';
import { openLine, startProgressLine } from './progress-line.ts';

/** Narrates a run as it goes on. */
export interface Narrator {
  start(target: Pick<Target, 'url' | 'redis' | 'nginx' | 'backends'>): void;
  /** A drill begins. */
  cell(cell: Cell): void;
  /** How far a drill under load has come. */
  progress(done: number, total: number): void;
  /** Whoever follows the cell while it runs. */
  follow?(cell: Cell): Audience;
  result(stage: string, result: DrillResult): void | Promise<void>;
  end(results: Results, dir: string): void;
}

/** Narrates the story of the stages to `out`. */
export function createStoryNarrator(out: NodeJS.WriteStream): Narrator {
  const say = (line = '') => void out.write(`${line}\n`);
  const show = openLine(out);
  /** The results so far by `stage drill`, to compare a stage with the one before it. */
  const resultsSoFar = new Map<string, DrillResult>();
  const find = (stage: string, drill: string) => resultsSoFar.get(`${stage} ${drill}`);
  let current: { stage: string; drill: string } = { stage: '', drill: '' };

  return {
    start: (target) => say(startLine(target)),
    cell({ stage, drill }) {
      if (stage !== current.stage) for (const line of ['', ...openingLines(stage, find)]) say(line);
      current = { stage, drill: drill.name };
      show(`  ${drill.name} …`);
    },
    progress(done, total) {
      if (done % 10 === 0) show(`  ${current.drill} … ${formatNumber(done)} of ${formatNumber(total)}`);
    },
    result(stage, result) {
      show('');
      resultsSoFar.set(`${stage} ${result.drill}`, result);
      for (const line of drillLines(stage, result, find)) say(line);
    },
    end(results, dir) {
      show('');
      const ofOrders = ranStaircases(results).filter(({ staircase }) => staircase !== lockStaircase);
      for (const line of ofOrders.flatMap((ran) => picture(ran, results))) say(line);
      for (const line of [...verdictLines(results), ...finalStock(results), reportLine(dir)]) say(line);
    },
  };
}

/** Narrates a run of many cells to `out`: a line for each, and the picture at the end. */
export function createStaircaseNarrator(out: NodeJS.WriteStream, cells: Cell[]): Narrator {
  const say = (line = '') => void out.write(`${line}\n`);
  const rowWidth = Math.max(NARROWEST_ROW, ...cells.map(({ stage }) => stage.length));
  let done = 0;

  return {
    start(target) {
      say(startLine(target));
      say(`${formatNumber(cells.length)} cells.\n`);
    },
    cell() {},
    progress() {},
    result(stage, result) {
      done += 1;
      const count = pc.dim(`[${done}/${cells.length}]`);
      say(
        `${count} ${marks[result.verdict]} ${stage.padEnd(rowWidth)} ${nameColumn(result.drill)} ${shortResult(result)}`,
      );
    },
    end(results, dir) {
      for (const line of ranStaircases(results).flatMap((ran) => picture(ran, results))) say(line);
      for (const line of [...verdictLines(results), reportLine(dir)]) say(line);
    },
  };
}

/** Counts the cells as they end, on a terminal. */
export function createCountingNarrator(total: number): Narrator {
  const { advance, end } = startProgressLine(total);
  let done = 0;
  return {
    ...silentNarrator,
    result(stage, { drill }) {
      done += 1;
      advance(`${stage} · ${drill}`);
      if (done === total) end();
    },
    end,
  };
}

/** Narrates a grade to `out`: nothing before the answer, or a line for each cell on real servers, which take minutes. */
export function createGradeNarrator(out: NodeJS.WriteStream, cells: Cell[], isReal: boolean): Narrator {
  const before = isReal ? createStaircaseNarrator(out, cells) : createCountingNarrator(cells.length);
  return {
    ...before,
    end(results, dir) {
      const lines = (results.grades ?? []).flatMap(({ answer }) => (answer ? [...answerLines(answer), ''] : []));
      const baseline = results.stages.some(({ lockVersion }) => lockVersion !== null) ? [baselineLine(results)] : [];
      const took = pc.dim(`(${formatDuration(results.durationMs)})`);
      out.write(`${[...lines, ...baseline, `The report: ${dir}/report.html ${took}`].join('\n')}\n`);
    },
  };
}

/** What is wrong, in which order of events, what holds, and what was not looked at. */
export function answerLines({ verdict, sentence, broken, holds, notPromised, notLookedAt }: Answer): string[] {
  const paint = { holds: pc.green, broken: pc.red, unknown: pc.yellow }[verdict];
  const [first, ...others] = broken;
  const lines = (title: string, list: string[]) =>
    list.length > 0 ? ['', title, ...list.map((each) => `  ${each}`)] : [];
  const bySentence = (findings: Answer['broken']) =>
    grouped(findings, 'says').map(([says, names]) => `${names.join(', ')}: ${says}`);
  return [
    pc.bold(paint(sentence)),
    ...(first ? lines(`${first.name} found it. ${first.under}, in this order:`, first.steps) : []),
    ...lines('Broken, too:', bySentence(others)),
    ...lines(
      'It holds:',
      grouped(holds, 'under').map(([under, names]) => `${under}: ${names.join(', ')}.`),
    ),
    ...lines('It does not promise, and does not hold:', bySentence(notPromised)),
    ...lines('Nobody has looked at:', bySentence(notLookedAt)),
  ];
}

/** The names of the findings of which the same is said. */
function grouped(findings: Answer['holds'], by: 'says' | 'under'): [string, string[]][] {
  const groups = new Map<string, Set<string>>();
  for (const { name, ...said } of findings) groups.set(said[by], (groups.get(said[by]) ?? new Set()).add(name));
  return [...groups].map(([said, names]) => [said, [...names]]);
}

/** For output that another program reads. */
export const silentNarrator: Narrator = { start() {}, cell() {}, progress() {}, result() {}, end() {} };

function startLine({ url, redis, nginx, backends }: Parameters<Narrator['start']>[0]) {
  const others = Object.entries(backends).map(([name, version]) => `, ${name}: ${version}`);
  return `Two nodes behind nginx (${nginx}) at ${url}, redis: ${redis.kind} ${redis.version}${others.join('')}`;
}

function verdictLines(results: Results): string[] {
  return [
    '',
    `${verdictLine(results)} ${pc.dim(`(${formatDuration(results.durationMs)})`)}`,
    ...results.verdictReasons.map((reason) => `  ${reason}`),
    ...(results.leftOut.length > 0 ? [`  Left out: ${results.leftOut.join(', ')}.`] : []),
  ];
}

export const reportLine = (dir: string) => `\nThe report: ${dir}/report.html`;

function shortResult(result: DrillResult): string {
  const figure = keyFigure(result);
  if (result.verdict === 'unknown' || result.verdict === 'not-applicable') return result.reasons.join(' ');
  const off = isAsTaught(result) === false ? pc.red(`NOT expected: ${result.reasons.join(' ')}`) : '';
  return [figure ?? (off ? '' : result.reasons.join(' ')), off].filter(Boolean).join('  ');
}

/** A staircase, with a sign for each cell. Its columns stand group by group. */
function picture(ran: RanStaircase, results: Results): string[] {
  const drills = partsOf(ran).flatMap((part) => part.drills);
  const rows = ran.rows.map(({ stage, cells }) => ({
    name: stage,
    signs: drills.map((drill) => signOf(cells.find((cell) => cell.drill === drill) as RanCell, results)),
  }));
  return ['', pc.bold(ran.staircase.title), ...(rows.length > 0 ? signTable(drills, rows) : [])];
}

function signOf({ stage, result }: RanCell, results: Results): string {
  if (result === undefined) return ' ';
  const sign = isBeyondPromise(results, stage, result) ? '×' : marks[result.verdict];
  if (isAsTaught(result) === false) return pc.bgRed(sign);
  return result.taught === null ? pc.dim(sign) : sign;
}

/** The narrowest column for the names of rows. */
const NARROWEST_ROW = 18;

function verdictLine({ verdict, stages, leftOut }: Results): string {
  const results = stages.flatMap(({ drills }) => drills);
  const cells = results.filter(({ taught, verdict }) => taught !== null && verdict !== 'not-applicable').length;
  if (verdict === 'as-taught') {
    return pc.bold(
      pc.green(`As expected: each of the ${cells} cells holds where it should hold, and fails where it should fail.`),
    );
  }
  if (verdict === 'not-as-taught') return pc.bold(pc.red('Not as expected.'));
  return pc.bold(pc.yellow(leftOut.length > 0 ? 'Unknown: the run did not come to its end.' : 'Unknown.'));
}

/** Those of the compared figures, short enough for a terminal. */
const HEADS = [
  'sold',
  'expected stock',
  'final stock',
  'lost',
  'oversold',
  'sales/s',
  'p50 ms',
  'p99 ms',
  'Redis/sale',
];

/** A row for each stage: the figures of its rush, or of the first drill that has any. */
function finalStock(results: Results): string[] {
  const drills = measuredRushes(results);
  const compared = drills.find(({ drill }) => drill === 'rush') ?? drills[0];
  if (compared === undefined) return [];
  const table = new Table({
    head: ['stage', ...HEADS],
    colAligns: ['left', ...comparedFigures.map(() => 'right' as const)],
    style: { head: [], border: [], compact: true },
  });
  for (const { stage, figures } of compared.stages)
    table.push([stage, ...comparedFigures.map(({ read }) => read(figures))]);
  return ['', pc.bold(`The final stock, and the speed, in the ${compared.drill}`), table.toString()];
}
