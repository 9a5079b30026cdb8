// What a terminal shows of a stage and of a drill under it.

import { stripVTControlCharacters } from 'node:util';
import pc from 'picocolors';
import { type DrillResult, rushFigures, type Verdict } from '../evidence/results.ts';
import { countOf, formatMeasure, formatNumber } from '../narration/numbers.ts';
import { standingOf } from '../staircase/judge-run.ts';
import { columnNames, columnsWith, fixes, rowOf, staircaseOf } from '../staircase/lookup.ts';
import { keyFigure, questionOf, sharesOf } from './cells.ts';
import { signs, words } from './marks.ts';
import { readStory, stageTitle } from './story.ts';

/** So many evidence of a drill are told. */
const SHOWN_EVIDENCE = 3;

export const paint: Record<Verdict, (text: string) => string> = {
  pass: pc.green,
  fail: pc.red,
  unknown: pc.yellow,
  'not-applicable': pc.dim,
};
/** The sign of a verdict, with its word if that is asked for. */
export const mark = (verdict: Verdict, word = '') => paint[verdict](`${signs[verdict]} ${word}`.trim());

/**
 * What a stage opens with: its title, and its story with what the stage before failed and this one fixes. `find` knows what was found
 * of a cell so far.
 */
export function openingLines(stage: string, find: (stage: string, drill: string) => DrillResult | undefined): string[] {
  const story = readStory(stage);
  const before = columnNames
    .filter((drill) => fixes(stage, drill))
    .flatMap((drill) => find(rowOf(stage)?.before ?? '', drill) ?? []);
  return [
    pc.bold(stageTitle(stage)),
    ...(story ? [hanging(`  ${pc.dim('Problem')}  `, story.problem)] : []),
    ...before.map((result) => hanging(`  ${pc.dim('Before ')}  `, shortLine(result))),
    ...(story ? [hanging(`  ${pc.dim('Change ')}  `, story.change)] : []),
  ];
}

/** `✘ crashed-holder: none in 2 s` */
function shortLine(result: DrillResult): string {
  const figure = keyFigure(result) ?? words[result.verdict];
  return `${mark(result.verdict)} ${result.drill}: ${figure}`;
}

/** What happened to the shop comes first, then whether this was expected, and what was asked. */
export function resultLines(stage: string, result: DrillResult): string[] {
  const { drill, verdict, evidence } = result;
  const figures = rushFigures(result);
  const [happened = words[verdict], ...reasons] = result.reasons;
  const latency = figures?.latencyMs;
  const speed = [
    figures && `${formatNumber(figures.throughput)} sales/s`,
    latency && `p50 ${formatMeasure(latency.p50)} ms, p99 ${formatMeasure(latency.p99)} ms`,
    figures?.redisCommandsPerSale !== undefined &&
      `${formatMeasure(figures.redisCommandsPerSale)} Redis commands a sale`,
    figures?.conflicts !== undefined && countOf(figures.conflicts, 'conflict'),
    figures && figures.lockTimeout > 0 && `${formatNumber(figures.lockTimeout)} refused: the lock was not free in time`,
  ].filter(Boolean);
  const asked = questionOf(drill) && `The drill asks: ${questionOf(drill)}`;
  const indent = indentOf(drill);
  const shares = sharesOf(result);
  return [
    hanging(`  ${mark(verdict)} ${pc.bold(nameColumn(drill))} `, happened),
    ...reasons.map((reason) => hanging(indent, reason)),
    hanging(indent, [expectationOf(stage, result), pc.dim(asked)].filter(Boolean).join(' ')),
    ...evidence.slice(0, 1).map((sentence) => hanging(indent, pc.dim(`${sentence}.`))),
    ...(speed.length > 0 ? [hanging(indent, pc.dim(speed.join(' · ')))] : []),
    ...(shares ? [hanging(indent, pc.dim(shares))] : []),
  ];
}

/**
 * The text behind what it begins with. On a terminal its lines end between two words, and go on under its first letter; what is piped to
 * another program is one line.
 */
export function hanging(start: string, text: string, columns = process.stdout.columns): string {
  const indent = stripVTControlCharacters(start).length;
  const room = (columns ?? Number.POSITIVE_INFINITY) - indent;
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    const longer = line === '' ? word : `${line} ${word}`;
    if (line === '' || stripVTControlCharacters(longer).length <= room) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return start + lines.join(`\n${' '.repeat(indent)}`);
}

/** What `npm run drill` tells of a stage: its title, and what it changes. */
export const stageTold = (stage: string, columns?: number) =>
  hanging(`${pc.bold(stageTitle(stage))}  `, pc.dim(readStory(stage)?.change ?? ''), columns);

/** What it tells of a step, and of its time in milliseconds. */
export const stepTold = (sentence: string, atMs: number, columns?: number) =>
  hanging(`  ${pc.dim(`${(atMs / 1000).toFixed(2).padStart(6)} s`)}  `, sentence, columns);

/** What it tells of the end: the verdict and why, whether this was expected, and the first that was seen. */
export function verdictTold(
  stage: string,
  result: Omit<DrillResult, 'drill' | 'durationMs' | 'told'>,
  columns?: number,
): string[] {
  const { verdict, reasons, evidence, evidenceCount } = result;
  const expectation = expectationOf(stage, result);
  const more = evidenceCount - SHOWN_EVIDENCE;
  return [
    hanging(`  ${pc.bold(mark(verdict, words[verdict]))}  `, reasons.join(' '), columns),
    ...(expectation ? [hanging('    ', expectation, columns)] : []),
    ...evidence.slice(0, SHOWN_EVIDENCE).map((sentence) => hanging('    ', pc.dim(`${sentence}.`), columns)),
    ...(more > 0 ? [`    ${pc.dim(`and ${more} more`)}`] : []),
  ];
}

/** `Expected: this stage fails here.` Nothing where no verdict is expected, or none was reached. */
export function expectationOf(stage: string, { verdict, expected }: Pick<DrillResult, 'verdict' | 'expected'>): string {
  const standing = standingOf({ verdict, expected });
  const row = `this ${staircaseOf(stage).rowWord}`;
  if (standing === 'as expected') return `Expected: ${row} ${words[verdict]} here.`;
  if (standing !== 'not as expected') return '';
  return pc.red(`NOT expected: ${row} ${words[verdict]} here, and should ${expected === 'pass' ? 'hold' : 'fail'}.`);
}

/**
 * A row for each name, and a sign, which may be painted, for each column, whose name stands above it. Columns for which a terminal has no
 * room stand in a table of their own below.
 */
export function signTable(
  columns: string[],
  rows: { name: string; signs: string[] }[],
  room = process.stdout.columns ?? Number.POSITIVE_INFINITY,
): string[] {
  const width = Math.max(...rows.map(({ name }) => name.length)) + 2;
  const beyond = columns.findIndex((column, at) => at > 0 && width + 2 * at + column.length > room);
  const count = beyond < 0 ? columns.length : beyond;
  const others = rows.map(({ name, signs }) => ({ name, signs: signs.slice(count) }));
  return [
    ...columns.slice(0, count).map((column, at) => `${' '.repeat(width)}${'│ '.repeat(at)}${column}`),
    ...rows.map(({ name, signs }) => `${name.padEnd(width)}${signs.slice(0, count).join(' ')}`),
    ...(beyond < 0 ? [] : ['', ...signTable(columns.slice(count), others, room)]),
  ];
}

/** The name, padded to the widest that stands above or below it. */
export function nameColumn(drill: string): string {
  return drill.padEnd(Math.max(...columnsWith(drill).map((name) => name.length)));
}

/** Under the names of the drills. */
const indentOf = (drill: string) => ' '.repeat(nameColumn(drill).length + MARK_WIDTH);
const MARK_WIDTH = 5;
