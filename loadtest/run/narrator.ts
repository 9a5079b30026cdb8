// What a run prints: the story of the stages, or a line for each cell.

import Table from 'cli-table3';
import pc from 'picocolors';
import type { Answer, DrillResult, Results } from '../evidence/results.ts';
import type { Audience, Cell } from '../harness/drill.ts';
import type { Target } from '../harness/target.ts';
import { inLanguage } from '../narration/language.ts';
import { formatNumber } from '../narration/numbers.ts';
import { durationSaid, either } from '../narration/spoken.ts';
import {
  keyFigure,
  leftOutInWords,
  measuredRushes,
  partsOf,
  type Cell as RanCell,
  type RanStaircase,
  ranStaircases,
  reasonOf,
  whyNotPromised,
} from '../report/cells.ts';
import { comparedFigures, oversoldName, soldTwice } from '../report/figures.ts';
import { baselineLine } from '../report/grades.ts';
import { headlineOf } from '../report/headline.ts';
import { looksLike } from '../report/marks.ts';
import { countCells, verdictInWords, verdictReasonsOf } from '../report/summary.ts';
import { hanging, mark, nameColumn, openingLines, paint, resultLines, signTable } from '../report/terminal.ts';
import { standingOf } from '../staircase/judge-run.ts';
import { lockStaircase } from '../staircase/lock-stages.ts';
import { openLine, startProgressLine } from './progress-line.ts';

/** What a run is made on. */
export type Servers = Pick<Target, 'url' | 'redis' | 'nginx' | 'backends'> & { nodes: number };

/** Narrates a run while it is in progress. */
export interface Narrator {
  start?(target: Servers): void;
  /** A drill begins. */
  cell?(cell: Cell): void;
  /** How far a drill under load has come. */
  progress?(done: number, total: number): void;
  /** Whoever follows the cell while it runs. */
  follow?(cell: Cell): Audience;
  result(stage: string, result: DrillResult): void | Promise<void>;
  end(results: Results, dir: string): void;
}

/** Narrates a run of these cells to `out`: the story of its stages, or a line for each cell and the picture at the end. */
export function createNarrator(out: NodeJS.WriteStream, cells: Cell[], { isStory }: { isStory: boolean }): Narrator {
  const say = (...lines: string[]) => void out.write(lines.map((line) => `${line}\n`).join(''));
  const show = openLine(out);
  const rowWidth = Math.max(NARROWEST_ROW, ...cells.map(({ stage }) => stage.length));
  /** The results so far by `stage drill`, to compare a stage with the one before it. */
  const resultsSoFar = new Map<string, DrillResult>();
  const find = (stage: string, drill: string) => resultsSoFar.get(`${stage} ${drill}`);
  let current: { stage: string; drill: string } = { stage: '', drill: '' };

  return {
    start(target) {
      say(startLine(target));
      const count = formatNumber(cells.length);
      if (!isStory) say(either(`${count} cells.`, `${count} 个单元格。`), '');
    },
    cell({ stage, drill }) {
      if (!isStory) return;
      if (stage !== current.stage) say('', ...openingLines(stage, find));
      current = { stage, drill: drill.name };
      show(`  ${drill.name} …`);
    },
    progress(done, total) {
      if (isStory && done % 10 === 0) show(`  ${current.drill} … ${farIn(done, total)}`);
    },
    result(stage, result) {
      resultsSoFar.set(`${stage} ${result.drill}`, result);
      if (isStory) {
        show('');
        return say(...resultLines(stage, result));
      }
      const count = pc.dim(`[${resultsSoFar.size}/${cells.length}]`);
      const names = `${stage.padEnd(rowWidth)} ${nameColumn(result.drill)}`;
      say(hanging(`${count} ${mark(result.verdict)} ${names} `, shortResult(result)));
    },
    end(results, dir) {
      show('');
      const drawn = ranStaircases(results).filter(({ staircase }) => !isStory || staircase !== lockStaircase);
      say(...drawn.flatMap((ran) => picture(ran, results)), ...verdictLines(results));
      say(...(isStory ? finalStock(results) : []), reportLine(dir));
    },
  };
}

/** Counts the cells as they end, on a terminal. */
export function createCountingNarrator(total: number): Narrator {
  const { advance, end } = startProgressLine(total);
  return { result: (stage, { drill }) => advance(`${stage} · ${drill}`), end };
}

/** Narrates a grade to `out`: nothing before the answer, or a line for each cell on real servers, which take minutes. */
export function createGradeNarrator(out: NodeJS.WriteStream, cells: Cell[], isReal: boolean): Narrator {
  const before = isReal ? createNarrator(out, cells, { isStory: false }) : createCountingNarrator(cells.length);
  return {
    ...before,
    end(results, dir) {
      const lines = (results.grades ?? []).flatMap(({ answer, said = answer }) =>
        said ? [...answerLines(said), ''] : [],
      );
      const baseline = results.stages.some(({ lockVersion }) => lockVersion !== null) ? [baselineLine(results)] : [];
      out.write(`${[...lines, ...baseline, `${reportAt(dir)} ${tookIn(results)}`].join('\n')}\n`);
    },
  };
}

/** Who they are that the sentences name. */
const who = () =>
  either(
    'A, B, C and so on are callers, each with a lock object of its own. The lab stages the faults.',
    'A、B、C 等是调用者，各有自己的锁对象。故障由实验室制造。',
  );

/** What is wrong, each in which interleaving, what holds, and what was not looked at. */
export function answerLines(answer: Answer): string[] {
  const found = {
    check: '',
    order: either(' (model checker)', '（模型检查器）'),
    drill: either(' (drill)', '（演练）'),
  };
  const lines = (title: string, list: string[]) =>
    list.length > 0 ? ['', hanging('', title), ...list.map((each) => hanging('  ', each))] : [];
  const bySentence = (findings: Answer['broken']) => {
    const named = findings.map((finding) => ({ ...finding, name: finding.name + found[finding.kind] }));
    return grouped(named, 'says').map(([says, names]) => either(`${names}: ${says}`, `${names}：${says}`));
  };
  return [
    hanging('', pc.bold(paint[looksLike[answer.verdict]](answer.sentence))),
    hanging('', answer.searched),
    ...(answer.broken.length > 0 ? [hanging('', who())] : []),
    ...answer.broken.flatMap(({ name, kind, says, under, steps }, i) => [
      ...(i === 0 ? [] : ['', hanging(either('Also broken: ', '还有缺陷：'), says)]),
      ...lines(
        either(
          `${name}${found[kind]} found it. ${under}, in this order:`,
          `由 ${name}${found[kind] || ' '}发现。${under}，步骤如下：`,
        ),
        steps,
      ),
    ]),
    ...lines(
      either('It holds:', '通过：'),
      grouped(answer.holds, 'under').map(([under, names]) => either(`${under}: ${names}.`, `${under}：${names}。`)),
    ),
    ...lines(
      either('It fails these, and does not promise them:', '不通过，但没有承诺过：'),
      bySentence(answer.notPromised),
    ),
    ...lines(
      either('Not applicable, or it cannot be played here:', '不适用，或在这里无法演示：'),
      bySentence(answer.doesNotApply),
    ),
    // Of the model checker it is said above.
    ...lines(either('Unknown:', '未知：'), bySentence(answer.notLookedAt.filter(({ kind }) => kind !== 'order'))),
  ];
}

/** The names of the findings of which the same is said. */
function grouped(findings: Answer['holds'], by: 'says' | 'under'): [said: string, names: string][] {
  const namesOf = (said: string) => new Set(findings.filter((each) => each[by] === said).map(({ name }) => name));
  return [...new Set(findings.map((each) => each[by]))].map((said) => [
    said,
    [...namesOf(said)].join(either(', ', '、')),
  ]);
}

function startLine({ url, redis, nginx, backends, nodes }: Servers) {
  const versions = [['redis', `${redis.kind} ${redis.version}`], ...Object.entries(backends)];
  const servers = versions.map(([name, version]) => either(`${name}: ${version}`, `${name}：${version}`));
  return hanging(
    '',
    either(
      `${nodes === 2 ? 'Two' : nodes} nodes behind nginx (${nginx}) at ${url}, ${servers.join(', ')}`,
      `nginx（${nginx}，${url}）后面有 ${nodes} 个节点，${servers.join('，')}`,
    ),
  );
}

function verdictLines(results: Results): string[] {
  const title = pc.bold(paint[looksLike[results.verdict]](verdictInWords(results)));
  return [
    '',
    hanging('', pc.bold(headlineOf(results))),
    hanging('', `${title} ${countCells(results)} ${tookIn(results)}`),
    ...verdictReasonsOf(results).map((reason) => hanging('  ', reason)),
    ...(results.leftOut.length > 0
      ? [hanging(either('  Left out: ', '  没有运行：'), leftOutInWords(results.leftOut) + either('.', '。'))]
      : []),
  ];
}

const reportAt = (dir: string) => either(`The report: ${dir}/report.html`, `报告：${dir}/report.html`);
export const reportLine = (dir: string) => `\n${reportAt(dir)}`;

function tookIn({ durationMs }: Results): string {
  const took = durationSaid(durationMs);
  return pc.dim(either(`(${took})`, `（${took}）`));
}

const farIn = (done: number, total: number) =>
  either(`${formatNumber(done)} of ${formatNumber(total)}`, `${formatNumber(done)} / ${formatNumber(total)}`);

function shortResult(result: DrillResult): string {
  const figure = keyFigure(result);
  if (result.verdict === 'unknown' || result.verdict === 'not-applicable') return reasonOf(result);
  const off =
    standingOf(result) === 'not as expected'
      ? pc.red(either(`NOT expected: ${reasonOf(result)}`, `不符合预期：${reasonOf(result)}`))
      : '';
  return [figure ?? (off ? '' : reasonOf(result)), off].filter(Boolean).join('  ');
}

/** A staircase, with a sign for each cell. Its columns stand group by group. */
function picture(ran: RanStaircase, results: Results): string[] {
  const drills = partsOf(ran).flatMap((part) => part.drills);
  const rows = ran.stages.map((stage) => ({
    name: stage,
    signs: drills.map((drill) => signOf(ran.cellAt(stage, drill), results)),
  }));
  return ['', pc.bold(inLanguage(ran.staircase.title)), ...signTable(drills, rows)];
}

function signOf({ stage, result }: RanCell, results: Results): string {
  if (result === undefined) return ' ';
  const sign = whyNotPromised(results, stage, result) ? '×' : mark(result.verdict);
  if (standingOf(result) === 'not as expected') return pc.bgRed(sign);
  return result.expected === null ? pc.dim(sign) : sign;
}

/** The narrowest column for the names of rows. */
const NARROWEST_ROW = 18;

const sides = ['top', 'bottom', 'left', 'right', 'mid'];
const corners = ['top', 'bottom'].flatMap((side) => ['mid', 'left', 'right'].map((end) => `${side}-${end}`));
const crossings = ['left', 'mid', 'right'].map((side) => `${side}-mid`);
/** Of a table: two spaces stand between its columns. */
const WITHOUT_BORDERS = {
  ...Object.fromEntries([...sides, ...corners, ...crossings].map((name) => [name, ''])),
  middle: '  ',
};

/** A row for each stage: the figures of its rush, or of the first drill that has any. */
function finalStock(results: Results): string[] {
  const drills = measuredRushes(results);
  const compared = drills.find(({ drill }) => drill === 'rush') ?? drills[0];
  if (compared === undefined) return [];
  // Of the two ways to sell too much the one that this drill has: what is beyond the stock is sold twice as well.
  const isBeyond = compared.stages.some(({ figures }) => figures.oversold > 0);
  const rows = compared.stages.map(({ stage, figures }) => [
    { name: either('stage', '阶段'), text: stage, isUnknown: undefined },
    ...comparedFigures(figures).filter(({ name }) => name !== (isBeyond ? soldTwice() : oversoldName())),
  ]);
  const table = new Table({
    // In two lines each, so that the table has room on 80 columns.
    head: rows[0]?.map(({ name }) => name.replace(/ |(?=\/)/, '\n')) ?? [],
    colAligns: rows[0]?.map((_, at) => (at === 0 ? 'left' : 'right')) ?? [],
    chars: WITHOUT_BORDERS,
    style: { head: [], border: [], compact: true, 'padding-left': 0, 'padding-right': 0 },
  });
  table.push(...rows.map((row) => row.map(({ text, isUnknown }) => (isUnknown ? '–' : text))));
  const title = either(
    `The final stock, and the speed, in the ${compared.drill}`,
    `${compared.drill} 的最终库存和速度`,
  );
  return ['', pc.bold(title), table.toString()];
}
