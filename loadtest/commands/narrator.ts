// What a run prints: the story of the stages, or a line for each cell.

import { stripVTControlCharacters } from 'node:util';
import { SingleBar } from 'cli-progress';
import Table from 'cli-table3';
import pc from 'picocolors';
import { formatDuration, formatNumber } from '../evidence/numbers.ts';
import { type DrillResult, type Results, rushFigures, type StageResult } from '../evidence/results.ts';
import type { Cell } from '../harness/drill.ts';
import type { Audience } from '../harness/run-cell.ts';
import type { Target } from '../harness/target.ts';
import {
  isAsTaught,
  isBeyondPromise,
  keyFigure,
  partsOf,
  type Cell as RanCell,
  type RanStaircase,
  ranStaircases,
} from '../report/cells.ts';
import { comparedFigures } from '../report/figures.ts';
import { baselineLine, failures, gradeLine } from '../report/grades.ts';
import { drillLines, marks, nameColumn, openingLines } from '../report/terminal.ts';
import { checkNames } from '../staircase/contract.ts';
import { lockStaircase } from '../staircase/locks.ts';
import { columnOf, rowOf } from '../staircase/lookup.ts';

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

/** Narrates the story of the stages to `out`: with a progress bar on a terminal, in plain lines elsewhere. */
export function createStoryNarrator(out: NodeJS.WriteStream): Narrator {
  const bar = out.isTTY
    ? new SingleBar({
        stream: out,
        format: '  {drill} {bar} {value}/{total}',
        barsize: 30,
        clearOnComplete: true,
        hideCursor: true,
      })
    : undefined;
  const say = (line = '') => void out.write(`${line}\n`);
  /** The results so far by `stage drill`, to compare a stage with the one before it. */
  const resultsSoFar = new Map<string, DrillResult>();
  const find = (stage: string, drill: string) => resultsSoFar.get(`${stage} ${drill}`);
  let current: { stage: string; drill: string } = { stage: '', drill: '' };

  return {
    start: (target) => say(startLine(target)),
    cell({ stage, drill }) {
      const isNewStage = stage !== current.stage;
      current = { stage, drill: drill.name };
      if (drill.kind === 'steps' && bar) out.write(pc.dim(`${isNewStage ? '' : '  '}${nameColumn(drill.name)} …\r`));
      if (!isNewStage) return;
      say();
      for (const line of openingLines(stage, find)) say(line);
    },
    progress(done, total) {
      if (bar && done === 1) bar.start(total, 0, { drill: nameColumn(current.drill) });
      bar?.update(done);
    },
    result(stage, result) {
      bar?.stop();
      resultsSoFar.set(`${stage} ${result.drill}`, result);
      for (const line of drillLines(stage, result, find)) say(line);
    },
    end(results, dir) {
      bar?.stop();
      for (const ran of ranStaircases(results)) {
        if (ran.staircase !== lockStaircase) say(`\n${picture(ran, results, out.columns ?? DEFAULT_WIDTH)}`);
      }
      for (const line of verdictLines(results)) say(line);
      const table = comparison(results.stages);
      if (table) say(`\n${table}`);
      say(reportLine(dir));
    },
  };
}

/** About how long the virtual world takes for a cell, on two cores, in seconds. */
const VIRTUAL_SECONDS = 0.1;

/** Narrates a run of many cells to `out`: a line for each, how far it has come and how long it will take, the picture at the end. */
export function createStaircaseNarrator(
  out: NodeJS.WriteStream,
  cells: Cell[],
  { workers, isVirtual = false }: { workers: number; isVirtual?: boolean | undefined },
): Narrator {
  const bar = out.isTTY
    ? new SingleBar({
        stream: out,
        format: '  {bar} {value}/{total} cells, {left} left',
        barsize: 30,
        clearOnComplete: true,
      })
    : undefined;
  const say = (line = '') => void out.write(`${line}\n`);
  const rowWidth = Math.max(NARROWEST_ROW, ...cells.map(({ stage }) => stage.length));
  const secondsOf = (drill: string) => (isVirtual ? VIRTUAL_SECONDS * workers : (columnOf(drill)?.seconds ?? 0));
  const isLoad = ({ drill }: Cell) => drill.kind === 'load';
  let loadSeconds = sum(cells.filter(isLoad).map(({ drill }) => secondsOf(drill.name)));
  let stepSeconds = sum(cells.filter((cell) => !isLoad(cell)).map(({ drill }) => secondsOf(drill.name)));
  let done = 0;
  const left = () => `about ${formatDuration(1000 * Math.max(1, Math.ceil(loadSeconds + stepSeconds / workers)))}`;

  return {
    start(target) {
      say(startLine(target));
      say(`${formatNumber(cells.length)} cells, ${left()}.\n`);
      bar?.start(cells.length, 0, { left: left() });
    },
    cell() {},
    progress() {},
    result(stage, result) {
      done += 1;
      const { drill } = result;
      if (cells.some((cell) => cell.drill.name === drill && isLoad(cell))) loadSeconds -= secondsOf(drill);
      else stepSeconds -= secondsOf(drill);
      bar?.stop();
      const timeLeft = done < cells.length ? `, ${left()} left` : '';
      const count = bar ? '' : pc.dim(`[${done}/${cells.length}${timeLeft}] `);
      say(`${count}${marks[result.verdict]} ${stage.padEnd(rowWidth)} ${nameColumn(drill)} ${shortResult(result)}`);
      if (bar && done < cells.length) bar.start(cells.length, done, { left: left() });
    },
    end(results, dir) {
      bar?.stop();
      for (const ran of ranStaircases(results)) say(`\n${picture(ran, results, out.columns ?? DEFAULT_WIDTH)}`);
      for (const line of verdictLines(results)) say(line);
      say(reportLine(dir));
    },
  };
}

/** The checks of the contract, as one lock came out of them: a line each, and a sentence for what does not hold. */
export function contractLines(stage: string, checks: DrillResult[]): string[] {
  const width = Math.max(...checkNames.map((name) => name.length));
  const lines = checks.map(({ drill, verdict, reasons }) => {
    return `  ${marks[verdict]} ${verdict === 'pass' ? drill : `${drill.padEnd(width)} ${reasons.join(' ')}`}`;
  });
  return [pc.bold(stage), ...lines];
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
    ...(results.grades ?? []).flatMap((grade) => [
      pc.bold(gradeLine(grade, results)),
      ...failures(grade, results).map(({ drill, verdict, reasons }) => {
        return `  ${marks[verdict]} ${nameColumn(drill)} ${reasons.join(' ')}`;
      }),
    ]),
    `${results.grades ? baselineLine(results) : verdictLine(results)} ${pc.dim(`(${formatDuration(results.durationMs)})`)}`,
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

/**
 * A staircase, turned so that it fits a terminal of so many columns: a row for each drill, a column for each stage. What is too
 * wide goes on in a table below. Those of the orders are small enough to show a figure in each cell.
 */
function picture(ran: RanStaircase, results: Results, width: number): string {
  const { staircase } = ran;
  const { rowWord } = staircase;
  const parts = partsOf(ran);
  const drills = parts.flatMap((part) => part.drills);
  const isOfLocks = staircase === lockStaircase;
  const columns = ran.rows.map(({ stage, cells: inAnyOrder }) => {
    const cells = drills.map((drill) => inAnyOrder.find((cell) => cell.drill === drill));
    const head = rowOf(stage)?.short ?? stage;
    const figures = cells.map((cell) => (isOfLocks || !cell?.result ? undefined : keyFigure(cell.result)));
    const lines = cells.map((cell, i) => [pictureCell(cell, results), figures[i]].filter(Boolean).join(' '));
    const widest = Math.max(head.length, ...lines.map((line) => stripVTControlCharacters(line).length));
    return { head, lines, width: widest };
  });
  const first = Math.max(rowWord.length, ...drills.map((drill) => drill.length));
  const tables: (typeof columns)[] = [];
  let left = 0;
  for (const column of columns) {
    const needed = column.width + CELL_BORDER;
    if (needed > left) {
      tables.push([]);
      left = width - first - CELL_BORDER - 1;
    }
    tables.at(-1)?.push(column);
    left -= needed;
  }
  const text = tables.map((columns) => {
    const table = new Table({
      head: [rowWord, ...columns.map(({ head }) => head)],
      style: { head: [], border: [], compact: true },
    });
    for (const { group, drills: own } of parts) {
      if (group !== undefined) table.push([{ content: pc.bold(group), colSpan: columns.length + 1 }]);
      for (const drill of own) table.push([drill, ...columns.map(({ lines }) => lines[drills.indexOf(drill)] ?? '')]);
    }
    return table.toString();
  });
  return [...(isOfLocks ? [] : [pc.bold(staircase.title)]), ...text].join('\n');
}

function pictureCell(cell: RanCell | undefined, results: Results): string {
  if (cell?.result === undefined) return ' ';
  const { stage, result } = cell;
  if (isBeyondPromise(results, stage, result)) return pc.dim(`(${marks[result.verdict]})`);
  const isOff = isAsTaught(result) === false;
  if (isOff) return pc.bgRed(marks[result.verdict]);
  return result.taught === null ? pc.dim(marks[result.verdict]) : marks[result.verdict];
}

/** The columns of a terminal that does not say how many it has. */
const DEFAULT_WIDTH = 100;
/** The narrowest column for the names of rows. */
const NARROWEST_ROW = 18;
/** Two spaces and a line between two cells. */
const CELL_BORDER = 3;

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

/** A row for each stage: the figures of its rush, or of the first drill that has any, and what the sell-out oversold. */
function comparison(stages: StageResult[]): string | undefined {
  const drillNames = stages.flatMap((stage) => stage.drills.filter(rushFigures).map(({ drill }) => drill));
  const compared = drillNames.includes('rush') ? 'rush' : drillNames[0];
  if (compared === undefined) return undefined;
  const hasSellOut = drillNames.includes('sell-out');
  const table = new Table({
    head: [
      'stage',
      'sold',
      'expected stock',
      'final stock',
      'lost',
      'oversold',
      'sales/s',
      'p50 ms',
      'p99 ms',
      'Redis/sale',
    ],
    colAligns: ['left', ...comparedFigures.map(() => 'right' as const)],
    style: { head: [], border: [], compact: true },
  });
  for (const { stage, drills } of stages) {
    const figures = drills.filter(({ drill }) => drill === compared).map(rushFigures)[0];
    const sellOut = drills.filter(({ drill }) => drill === 'sell-out').map(rushFigures)[0];
    if (!figures) continue;
    const shown = { ...figures, oversold: (sellOut ?? figures).oversold };
    const isUnknown = (name: string) => name === 'Oversold' && hasSellOut && sellOut === undefined;
    table.push([stage, ...comparedFigures.map(({ name, read }) => (isUnknown(name) ? '' : read(shown)))]);
  }
  const note = hasSellOut && compared !== 'sell-out' ? ', oversold in the sell-out' : '';
  return `${pc.bold(`The final stock, and the speed, in the ${compared}${note}`)}\n${table.toString()}`;
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
