// The headline of a run: what happened, in a sentence.

import { numberOf } from '../../locks/index.ts';
import { type DrillResult, type Results, type RushFigures, rushFigures } from '../evidence/results.ts';
import { capitalised, countOf, formatNumber, listOf } from '../narration/numbers.ts';
import { standingOf } from '../staircase/judge-run.ts';
import { staircaseOf } from '../staircase/lookup.ts';
import { keyFigure } from './cells.ts';
import { gradeTitle } from './grades.ts';

type RanCell = { stage: string } & DrillResult;

/** So many rows or cells are named; more are counted. */
const MOST_NAMED = 3;

/** First of all what nobody expected, then what nobody knows; else what a load has shown, or what the drills have. */
export function headlineOf({ stages, grades, leftOut, verdict }: Results): string {
  if (grades) return `${gradeTitle(grades)}.`;
  const cells = stages.flatMap(({ stage, drills }) => drills.map((result): RanCell => ({ stage, ...result })));
  const ran = cells.filter((cell) => cell.verdict !== 'not-applicable');
  const unknown = ran.filter((cell) => cell.verdict === 'unknown');
  const [odd, ...others] = ran.filter((cell) => standingOf(cell) === 'not as expected');
  if (odd) {
    const more =
      others.length > 0 ? ` ${countOf(others.length, 'more cell is', 'more cells are')} not as expected.` : '';
    return `${ofOne(odd, odd.verdict === 'fail' ? ', and should hold' : ', and should fail')}.${more}`;
  }
  if (ran.length === 0) return 'No drill was run.';
  if (leftOut.length > 0)
    return `The run was cut short: ${formatNumber(ran.length)} of ${countOf(ran.length + leftOut.length, 'cell')} ran.`;
  if (verdict !== 'unknown') return underLoad(ran) ?? ofDrills(ran);
  const named = unknown.map(({ stage, drill }) => `${drill} under ${nameOf(stage)}`);
  return named.length > MOST_NAMED
    ? `${formatNumber(named.length)} of ${countOf(ran.length, 'cell')} are unknown.`
    : `Nothing is known of ${listOf(named)}.`;
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
    return `${capitalised(under([worst.stage]))} ${worst.says}${after.length > 0 ? `; ${fromOn(after)}, none` : ''}.`;
  }
  const failed = ran.filter(({ verdict }) => verdict === 'fail').length;
  const others = failed > 0 ? `; ${formatNumber(failed)} of ${countOf(ran.length, 'cell')} fail` : '';
  return `${capitalised(under(rows.map(({ stage }) => stage)))} ${worst.says} in the ${drill}${others}.`;
}

/** How many units were sold twice, or beyond the stock, and the clause that says so. */
function damageOf({ sold, soldOut, initialStock, oversold, lostUpdates }: RushFigures) {
  const isSellOut = soldOut > 0 || oversold > 0;
  const damage = isSellOut ? oversold : Math.max(0, lostUpdates);
  const count = damage === 0 ? 'none' : formatNumber(damage);
  const were = damage > 1 ? 'were' : 'was';
  const says = isSellOut
    ? `${count} ${were} sold beyond the ${countOf(initialStock, 'unit')} in stock`
    : `${count} of ${countOf(sold, 'unit')} ${were} sold twice`;
  return { damage, says };
}

/** Who holds and who fails: of one drill by their names, of several by their number. */
function ofDrills(ran: RanCell[]): string {
  const [first] = ran;
  if (first && ran.length === 1) return `${ofOne(first)}.`;
  const drills = new Set(ran.map(({ drill }) => drill));
  const those = (verdict: DrillResult['verdict']) => ran.filter((cell) => cell.verdict === verdict);
  const parts = Object.entries({
    fail: ['fails', 'fail'],
    pass: ['holds', 'hold'],
    unknown: ['is unknown', 'are unknown'],
  } as const);
  const said = parts.flatMap(([verdict, [one, many]]) => {
    const cells = those(verdict as DrillResult['verdict']);
    if (cells.length === 0) return [];
    const isNamed = drills.size === 1 && cells.length <= MOST_NAMED;
    const who = isNamed ? listOf(cells.map(({ stage }) => nameOf(stage))) : formatNumber(cells.length);
    return [`${who} ${cells.length === 1 ? one : many}`];
  });
  return `${drills.size === 1 ? `In ${first?.drill}` : `Of ${countOf(ran.length, 'cell')}`} ${listOf(said)}.`;
}

/** `stage 5 fails late-release: 1 overlap` */
function ofOne(cell: RanCell, aside = ''): string {
  const { stage, drill, verdict } = cell;
  const figure = keyFigure(cell);
  const does = verdict === 'fail' ? 'fails' : 'holds in';
  return `${capitalised(nameOf(stage))} ${does} ${drill}${aside}${figure === undefined ? '' : `: ${figure}`}`;
}

/** `stage 4`, or the name of a row that has no number. */
function nameOf(stage: string): string {
  const number = numberOf(stage);
  return number === null ? stage : `stage ${number}`;
}

function under(stages: string[]): string {
  const [first = ''] = stages;
  if (stages.length > MOST_NAMED) return `under ${stages.length} ${staircaseOf(first).rowWord}s`;
  return stages.length === 1 && numberOf(first) === 0 ? 'without a lock' : `under ${listOf(stages.map(nameOf))}`;
}

const fromOn = (stages: string[]) =>
  stages.length > 1 && numberOf(stages[0] ?? '') !== null ? `from ${nameOf(stages[0] ?? '')} on` : under(stages);
