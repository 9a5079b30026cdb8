// The headline of a run: what happened, in a sentence.

import { numberOf } from '../../locks/index.ts';
import { type DrillResult, type Results, type RushFigures, rushFigures } from '../evidence/results.ts';
import { inLanguage } from '../narration/language.ts';
import { capitalised, countOf, formatNumber } from '../narration/numbers.ts';
import { either, listSaid } from '../narration/spoken.ts';
import { standingOf } from '../staircase/judge-run.ts';
import { staircaseOf } from '../staircase/lookup.ts';
import { rowsWordOf } from '../staircase/staircase.ts';
import { keyFigure } from './cells.ts';
import { gradeTitle } from './grades.ts';

type RanCell = { stage: string } & DrillResult;

/** So many rows or cells are named; more are counted. */
const MOST_NAMED = 3;

/** First of all what nobody expected, then what nobody knows; else what a load has shown, or what the drills have. */
export function headlineOf({ stages, grades, leftOut, verdict }: Results): string {
  if (grades) return gradeTitle(grades) + either('.', '。');
  const cells = stages.flatMap(({ stage, drills }) => drills.map((result): RanCell => ({ stage, ...result })));
  const ran = cells.filter((cell) => cell.verdict !== 'not-applicable');
  const unknown = ran.filter((cell) => cell.verdict === 'unknown');
  const [odd, ...others] = ran.filter((cell) => standingOf(cell) === 'not as expected');
  if (odd) {
    const more = either(
      ` ${countOf(others.length, 'more cell is', 'more cells are')} not as expected.`,
      `另有 ${formatNumber(others.length)} 个单元格不符合预期。`,
    );
    const should =
      odd.verdict === 'fail' ? either(', and should hold', '，本应通过') : either(', and should fail', '，本应不通过');
    return `${ofOne(odd, should)}${either('.', '。')}${others.length > 0 ? more : ''}`;
  }
  if (ran.length === 0) return either('No drill was run.', '没有运行任何演练。');
  if (leftOut.length > 0) {
    const [done, all] = [ran.length, ran.length + leftOut.length];
    return either(
      `The run was cut short: ${formatNumber(done)} of ${countOf(all, 'cell')} ran.`,
      `运行被中断：${formatNumber(all)} 个单元格中运行了 ${formatNumber(done)} 个。`,
    );
  }
  if (verdict !== 'unknown') return underLoad(ran) ?? ofDrills(ran);
  const named = unknown.map(({ stage, drill }) =>
    either(`${drill} under ${nameOf(stage)}`, `${nameOf(stage)} 的 ${drill}`),
  );
  const areMany = named.length > MOST_NAMED;
  return either(
    areMany
      ? `${formatNumber(named.length)} of ${countOf(ran.length, 'cell')} are unknown.`
      : `${capitalised(listSaid(named))} ${named.length === 1 ? 'is' : 'are'} unknown.`,
    areMany
      ? `${formatNumber(ran.length)} 个单元格中有 ${formatNumber(named.length)} 个未知。`
      : `${listSaid(named)}：结果未知。`,
  );
}

/** `Without a lock 435 of 500 units were sold twice; from stage 2 on, none.` Undefined where no load says that. */
function underLoad(ran: RanCell[]): string | undefined {
  const loads = ran.flatMap(({ stage, drill, verdict, ...cell }) => {
    const figures = rushFigures(cell);
    return figures && verdict !== 'unknown' ? [{ stage, drill, verdict, ...damageOf(figures) }] : [];
  });
  const drill = loads.some((load) => load.drill === 'rush') ? 'rush' : loads[0]?.drill;
  const rows = loads.filter((load) => load.drill === drill);
  const [worst] = rows.toSorted((one, other) => other.damage - one.damage);
  if (worst === undefined || rows.some(({ verdict, damage }) => verdict === 'fail' && damage === 0)) return undefined;
  if (worst.damage > 0) {
    const after = rows.slice(rows.findLastIndex(({ damage }) => damage > 0) + 1).map(({ stage }) => stage);
    const none = after.length > 0 ? either(`; ${fromOn(after)}, none`, `；${fromOn(after)}没有`) : '';
    const where = under([worst.stage]);
    return either(`${capitalised(where)} ${worst.says}${none}.`, `${where}，${worst.says}${none}。`);
  }
  const failed = ran.filter(({ verdict }) => verdict === 'fail').length;
  const others =
    failed > 0
      ? either(
          `; ${formatNumber(failed)} of ${countOf(ran.length, 'cell')} fail`,
          `；${formatNumber(ran.length)} 个单元格中有 ${formatNumber(failed)} 个不通过`,
        )
      : '';
  const where = under(rows.map(({ stage }) => stage));
  return either(
    `${capitalised(where)} ${worst.says} in the ${drill}${others}.`,
    `${where}，${drill} 中${worst.says}${others}。`,
  );
}

/** How many units were sold twice, or beyond the stock, and the clause that says so. */
function damageOf({ sold, soldOut, initialStock, oversold, lostUpdates }: RushFigures) {
  const isSellOut = soldOut > 0 || oversold > 0;
  const damage = isSellOut ? oversold : Math.max(0, lostUpdates);
  const count = damage === 0 ? 'none' : formatNumber(damage);
  const were = damage > 1 ? 'were' : 'was';
  const says = isSellOut
    ? either(
        `${count} ${were} sold beyond the ${countOf(initialStock, 'unit')} in stock`,
        damage === 0
          ? `库存 ${formatNumber(initialStock)} 件，没有超卖`
          : `库存 ${formatNumber(initialStock)} 件，超卖 ${count} 件`,
      )
    : either(
        `${count} of ${countOf(sold, 'unit')} ${were} sold twice`,
        damage === 0
          ? `卖出的 ${formatNumber(sold)} 件没有重复卖出`
          : `卖出的 ${formatNumber(sold)} 件中有 ${count} 件是重复卖出`,
      );
  return { damage, says };
}

/** Who holds and who fails: of one drill by their names, of several by their number. */
function ofDrills(ran: RanCell[]): string {
  const [first] = ran;
  if (first && ran.length === 1) return ofOne(first) + either('.', '。');
  const drills = new Set(ran.map(({ drill }) => drill));
  const those = (verdict: DrillResult['verdict']) => ran.filter((cell) => cell.verdict === verdict);
  const parts = Object.entries({
    fail: ['fails', 'fail', '不通过'],
    pass: ['holds', 'hold', '通过'],
    unknown: ['is unknown', 'are unknown', '未知'],
  } as const);
  const said = parts.flatMap(([verdict, [one, many, chinese]]) => {
    const cells = those(verdict as DrillResult['verdict']);
    if (cells.length === 0) return [];
    const isNamed = drills.size === 1 && cells.length <= MOST_NAMED;
    const count = formatNumber(cells.length);
    const who = isNamed ? listSaid(cells.map(({ stage }) => nameOf(stage))) : either(count, `${count} 个`);
    return [either(`${who} ${cells.length === 1 ? one : many}`, `${who}${isNamed ? ' ' : ''}${chinese}`)];
  });
  const all = either(`Of ${countOf(ran.length, 'cell')}`, `${formatNumber(ran.length)} 个单元格中`);
  return drills.size === 1
    ? either(`In ${first?.drill} ${listSaid(said)}.`, `${first?.drill}：${said.join('，')}。`)
    : either(`${all} ${listSaid(said)}.`, `${all}，${said.join('，')}。`);
}

/** `stage 5 fails late-release: 1 overlap` */
function ofOne(cell: RanCell, aside = ''): string {
  const { stage, drill, verdict } = cell;
  const figure = keyFigure(cell);
  const does = verdict === 'fail' ? 'fails' : 'holds in';
  return either(
    `${capitalised(nameOf(stage))} ${does} ${drill}${aside}${figure === undefined ? '' : `: ${figure}`}`,
    `${nameOf(stage)} ${verdict === 'fail' ? '没有通过' : '通过了'} ${drill}${aside}${figure === undefined ? '' : `：${figure}`}`,
  );
}

/** `stage 4`, or the name of a row that has no number. */
function nameOf(stage: string): string {
  const number = numberOf(stage);
  return number === null ? stage : either(`stage ${number}`, `阶段 ${number}`);
}

function under(stages: string[]): string {
  const [first = ''] = stages;
  if (stages.length > MOST_NAMED) {
    const staircase = staircaseOf(first);
    return either(
      `under ${stages.length} ${rowsWordOf(staircase)}`,
      `${stages.length} 个${inLanguage(staircase.rowWord)}下`,
    );
  }
  if (stages.length === 1 && numberOf(first) === 0) return either('without a lock', '不加锁时');
  return either(`under ${listSaid(stages.map(nameOf))}`, `${listSaid(stages.map(nameOf))} 下`);
}

const fromOn = (stages: string[]) =>
  stages.length > 1 && numberOf(stages[0] ?? '') !== null
    ? either(`from ${nameOf(stages[0] ?? '')} on`, `从${nameOf(stages[0] ?? '')} 起`)
    : under(stages);
