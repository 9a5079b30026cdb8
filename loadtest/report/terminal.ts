// What a terminal shows of a stage and of a drill under it.

import pc from 'picocolors';
import stringWidth from 'string-width';
import { type DrillResult, rushFigures, type Verdict } from '../evidence/results.ts';
import { inLanguage } from '../narration/language.ts';
import { countOf, formatMeasure, formatNumber } from '../narration/numbers.ts';
import { either, sentencesSaid } from '../narration/spoken.ts';
import { standingOf } from '../staircase/judge-run.ts';
import { columnNames, columnsWith, fixes, rowOf, staircaseOf } from '../staircase/lookup.ts';
import { evidenceOf, keyFigure, questionOf, reasonOf, reasonsOf, sharesOf } from './cells.ts';
import { signs, wordOf } from './marks.ts';
import { remedyOf } from './remedy.ts';
import { stageTitle, storyOf } from './story.ts';

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
  const story = storyOf(stage);
  const before = columnNames
    .filter((drill) => fixes(stage, drill))
    .flatMap((drill) => find(rowOf(stage)?.before ?? '', drill) ?? []);
  return [
    pc.bold(stageTitle(stage)),
    ...(story ? [hanging(`  ${pc.dim(either('Problem', '问题'))}  `, story.problem)] : []),
    ...before.map((result) => hanging(`  ${pc.dim(either('Before ', '之前'))}  `, shortLine(result))),
    ...(story ? [hanging(`  ${pc.dim(either('Change ', '改动'))}  `, story.change)] : []),
  ];
}

/** Such as `✘ crashed-holder: none in 2 s`. */
function shortLine(result: DrillResult): string {
  const figure = keyFigure(result) ?? wordOf(result.verdict);
  return `${mark(result.verdict)} ${result.drill}${either(': ', '：')}${figure}`;
}

/** What happened to the shop comes first, then whether this was expected, and what was asked. */
export function resultLines(stage: string, result: DrillResult): string[] {
  const { drill, verdict } = result;
  const figures = rushFigures(result);
  const [happened = wordOf(verdict), ...reasons] = reasonsOf(result);
  const latency = figures?.latencyMs;
  const speed = [
    figures && either(`${formatNumber(figures.throughput)} sales/s`, `每秒 ${formatNumber(figures.throughput)} 笔`),
    latency &&
      [`p50 ${formatMeasure(latency.p50)} ms`, `p99 ${formatMeasure(latency.p99)} ms`].join(either(', ', '，')),
    figures?.redisCommandsPerSale !== undefined &&
      either(
        `${formatMeasure(figures.redisCommandsPerSale)} Redis commands a sale`,
        `每笔 ${formatMeasure(figures.redisCommandsPerSale)} 条 Redis 命令`,
      ),
    figures?.conflicts !== undefined &&
      either(countOf(figures.conflicts, 'conflict'), `写冲突 ${formatNumber(figures.conflicts)} 次`),
    figures &&
      figures.lockTimeout > 0 &&
      either(
        `${formatNumber(figures.lockTimeout)} refused: the lock was not free in time`,
        `拒绝 ${formatNumber(figures.lockTimeout)} 笔：没有及时等到锁`,
      ),
  ].filter(Boolean);
  const asked = questionOf(drill) && either(`The drill asks: ${questionOf(drill)}`, `演练的问题：${questionOf(drill)}`);
  const indent = indentOf(drill);
  const shares = sharesOf(result);
  const remedy = remedyOf(stage, result);
  return [
    hanging(`  ${mark(verdict)} ${pc.bold(nameColumn(drill))} `, happened),
    ...reasons.map((reason) => hanging(indent, reason)),
    ...(remedy ? [hanging(indent, remedy)] : []),
    hanging(indent, sentencesSaid([expectationOf(stage, result), pc.dim(asked)])),
    ...evidenceOf(result)
      .slice(0, 1)
      .map((sentence) => hanging(indent, pc.dim(`${sentence}${either('.', '。')}`))),
    ...(speed.length > 0 ? [hanging(indent, pc.dim(speed.join(' · ')))] : []),
    ...(shares ? [hanging(indent, pc.dim(shares))] : []),
  ];
}

/**
 * The text behind what it begins with. On a terminal its lines end between two words, or two Chinese characters, and continue under its
 * first letter; what is piped to another program is one line.
 */
export function hanging(start: string, text: string, columns = process.stdout.columns): string {
  const indent = stringWidth(start);
  const room = (columns ?? Number.POSITIVE_INFINITY) - indent;
  const lines = [''];
  for (const piece of text.split(MAY_BREAK)) {
    const line = lines.at(-1) ?? '';
    if (line === '' || stringWidth((line + piece).trimEnd()) <= room) lines[lines.length - 1] = line + piece;
    else lines.push(piece);
  }
  return start + lines.map((line) => line.trimEnd()).join(`\n${' '.repeat(indent)}`);
}

/** Behind a blank, and beside a Chinese character: but no line begins with a mark that closes, or ends with one that opens. */
const MAY_BREAK =
  /(?<= )(?! )|(?<=[\p{sc=Han}，。、：；！？）”])(?=[^ ，。、：；！？）”\p{Cc}])|(?<=[^ （“\p{Cc}])(?=[\p{sc=Han}（“])/u;

/** The text, with blanks behind it up to so many columns of a terminal. */
export const padded = (text: string, columns: number) => text + ' '.repeat(Math.max(0, columns - stringWidth(text)));

/** What `npm run drill` tells of a stage: its title, and what it changes. */
export const stageTold = (stage: string, columns?: number) =>
  hanging(`${pc.bold(stageTitle(stage))}  `, pc.dim(storyOf(stage)?.change ?? ''), columns);

/** What it tells of a step, and of its time in milliseconds. */
export const stepTold = (sentence: string, atMs: number, columns?: number) =>
  hanging(`  ${pc.dim(`${(atMs / 1000).toFixed(2).padStart(6)} ${either('s', '秒')}`)}  `, sentence, columns);

/** What it tells of the end: the verdict and why, whether this was expected, and the first that was seen. */
export function verdictTold(
  stage: string,
  result: Omit<DrillResult, 'durationMs' | 'told'>,
  columns?: number,
): string[] {
  const { verdict, evidenceCount } = result;
  const expectation = expectationOf(stage, result);
  const more = evidenceCount - SHOWN_EVIDENCE;
  const remedy = remedyOf(stage, result);
  return [
    hanging(`  ${pc.bold(mark(verdict, wordOf(verdict)))}  `, reasonOf(result), columns),
    ...(remedy ? [hanging('    ', remedy, columns)] : []),
    ...(expectation ? [hanging('    ', expectation, columns)] : []),
    ...evidenceOf(result)
      .slice(0, SHOWN_EVIDENCE)
      .map((sentence) => hanging('    ', pc.dim(`${sentence}${either('.', '。')}`), columns)),
    ...(more > 0 ? [`    ${pc.dim(either(`and ${more} more`, `还有 ${more} 条`))}`] : []),
  ];
}

/** `Expected: this stage fails here.` Nothing where no verdict is expected, or none was reached. */
export function expectationOf(stage: string, { verdict, expected }: Pick<DrillResult, 'verdict' | 'expected'>): string {
  const standing = standingOf({ verdict, expected });
  const row = inLanguage(staircaseOf(stage).rowWord);
  const word = wordOf(verdict);
  if (standing === 'as expected')
    return either(`Expected: this ${row} ${word} here.`, `符合预期：这个${row}在这里${word}。`);
  if (standing !== 'not as expected') return '';
  const should = expected === 'pass' ? 'hold' : 'fail';
  const wanted = wordOf(expected ?? 'unknown');
  return pc.red(
    either(
      `NOT expected: this ${row} ${word} here, and should ${should}.`,
      `不符合预期：这个${row}在这里${word}，本应${wanted}。`,
    ),
  );
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
  const width = Math.max(...rows.map(({ name }) => stringWidth(name))) + 2;
  const beyond = columns.findIndex((column, at) => at > 0 && width + 2 * at + column.length > room);
  const count = beyond < 0 ? columns.length : beyond;
  const others = rows.map(({ name, signs }) => ({ name, signs: signs.slice(count) }));
  return [
    ...columns.slice(0, count).map((column, at) => `${' '.repeat(width)}${'│ '.repeat(at)}${column}`),
    ...rows.map(({ name, signs }) => `${padded(name, width)}${signs.slice(0, count).join(' ')}`),
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
