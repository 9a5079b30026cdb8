// A run in a few sentences.

import { countOf, formatNumber, listOf } from '../evidence/numbers.ts';
import { type Results, type RushFigures, rushFigures, stepFigures } from '../evidence/results.ts';
import { rowOf } from '../staircase/lookup.ts';
import { fixedBy, isAsTaught, type RanStaircase, ranStaircases } from './cells.ts';
import { baselineLine, gradeTitle } from './grades.ts';

/** The verdict on the run in plain words. */
const verdictWords = {
  'as-taught': 'As expected',
  'not-as-taught': 'Not as expected',
  unknown: 'Unknown',
} as const;

/** What the report is about: the verdict on the run, or on a graded lock. */
export function titleOf(results: Results): string {
  return results.grades ? gradeTitle(results.grades, results) : verdictWords[results.verdict];
}

/** How many cells ran, and how many of them came out as expected. Empty when there is nothing to count. */
export function countCells({ stages, leftOut }: Results): string {
  const cells = stages.flatMap((stage) => stage.drills);
  const ran = cells.filter(({ verdict }) => verdict !== 'not-applicable');
  const notApplicable = cells.length - ran.length;
  const parts = [
    { count: ran.filter((cell) => isAsTaught(cell) === true).length, name: 'as expected' },
    { count: ran.filter((cell) => isAsTaught(cell) === false).length, name: 'not as expected' },
    { count: ran.filter(({ verdict }) => verdict === 'unknown').length, name: 'unknown' },
    {
      count: ran.filter(({ verdict, taught }) => verdict !== 'unknown' && taught === null).length,
      name: 'measured only',
    },
  ].filter(({ count }) => count > 0);
  const counts = parts.map(
    ({ count, name }) => `${count === ran.length && count > 1 ? 'all' : formatNumber(count)} ${name}`,
  );

  return [
    ...(ran.length > 0 ? [`${countOf(ran.length, 'cell')} run: ${counts.join(', ')}.`] : []),
    ...(leftOut.length > 0 ? [`${countOf(leftOut.length, 'cell')} left out.`] : []),
    ...(notApplicable > 0 ? [`${countOf(notApplicable, 'cell')} not applicable.`] : []),
  ].join(' ');
}

/** What the run shows, a sentence each: the sales that were lost, what was oversold, and what the steps of the staircase fix. */
export function summarize(results: Results): string[] {
  if (results.grades) return [baselineLine(results)];
  const nodes = outcomesOf(results, 'rush').length > 0 ? { drill: 'rush', on: 'two nodes' } : oneNode;
  const sentences = [
    describe(outcomesOf(results, nodes.drill), {
      damage: (figures) => figures.lostUpdates,
      one: (stage, { lostUpdates, sold }) =>
        `${stage} lost ${formatNumber(lostUpdates)} of ${countOf(sold, 'sale')} on ${nodes.on}`,
      several: (stages, list) => `${stages} lost sales on ${nodes.on}: ${listOf(list.map(lostOfSold))}`,
      none: (stages) => `${stages} lost no sale on ${nodes.on}`,
      rest: 'none is lost',
    }),
    describe(outcomesOf(results, 'sell-out'), {
      damage: (figures) => figures.oversold,
      one: (stage, { sold, initialStock }) =>
        `${stage} sold ${formatNumber(sold)} of ${countOf(initialStock, 'unit')} in stock`,
      several: (stages, list) => `${stages} sold more than there was: ${listOf(list.map(soldOfStock))}`,
      none: (stages) => `${stages} sold no more than there was`,
      rest: 'none is oversold',
    }),
    ...ranStaircases(results).flatMap((ran) => [describeSteps(ran, results), praise(ran)]),
  ].filter((sentence) => sentence !== undefined);
  if (sentences.length > 0) return sentences;
  return results.stages.some(({ drills }) => drills.length > 0)
    ? ['No drill of this run came to a verdict on what is expected.']
    : ['Nothing was run.'];
}

/** Of the drills that go step by step: which stage fixes which, and what the last stage leaves. Only what is taught counts. */
function describeSteps({ drills: order, rows }: RanStaircase, results: Results): string | undefined {
  const stages = results.stages.filter(({ stage }) => rows.some((row) => row.stage === stage));
  const cells = stages
    .flatMap(({ stage, drills }, i) => drills.map((result) => ({ stage, result, before: stages.slice(0, i) })))
    .filter(({ result }) => stepFigures(result) !== undefined)
    .sort((a, b) => order.indexOf(a.result.drill) - order.indexOf(b.result.drill));
  const fixed = cells.filter(({ result, before }) => fixedBy(result, before)?.failed.taught === 'fail');
  const last = stages.at(-1)?.stage ?? '';
  const left = cells
    .filter(({ stage, result }) => stage === last && result.taught === 'fail' && result.verdict === 'fail')
    .map(({ result }) => result.drill);

  const inOrder = stages.flatMap(({ stage }) => {
    const drills = fixed.filter((cell) => cell.stage === stage).map(({ result }) => result.drill);
    return drills.length > 0 ? [{ stage, drills }] : [];
  });
  const clauses = [
    listOf(inOrder.map(({ stage, drills }, i) => `${nameStage(stage)}${i === 0 ? ' fixes' : ''} ${listOf(drills)}`)),
    left.length > 0 ? `${nameStage(last)} ${fixed.length > 0 ? 'still ' : ''}fails ${listOf(left)}` : '',
  ].filter((clause) => clause !== '');
  if (clauses.length === 0) return undefined;
  return `${clauses.join('; ').replaceAll(/(?<=.)Stage (?=\d)/g, 'stage ')}.`;
}

/** Only what holds in every column of its staircase, each of them run, is said to. */
function praise({ staircase, rows }: RanStaircase): string | undefined {
  if (staircase.praise === undefined) return undefined;
  const columns = Object.keys(staircase.columns);
  const holds = rows.filter(({ cells }) =>
    columns.every((drill) => cells.some((cell) => cell.drill === drill && cell.state === 'pass')),
  );
  if (holds.length === 0) return undefined;
  return `${staircase.praise}: ${listOf(holds.map(({ stage }) => nameStage(stage)))}.`;
}

const oneNode = { drill: 'one-node-rush', on: 'one node' };

function lostOfSold({ lostUpdates, sold }: RushFigures) {
  return `${formatNumber(lostUpdates)} of ${formatNumber(sold)}`;
}

function soldOfStock({ sold, initialStock }: RushFigures) {
  return `${formatNumber(sold)} of ${formatNumber(initialStock)}`;
}

interface Outcome {
  stage: string;
  figures: RushFigures;
}

function outcomesOf({ stages }: Results, drill: string): Outcome[] {
  return stages.flatMap(({ stage, drills }) =>
    drills
      .filter((result) => result.drill === drill && (result.verdict === 'pass' || result.verdict === 'fail'))
      .flatMap((result) => {
        const figures = rushFigures(result);
        return figures === undefined ? [] : [{ stage, figures }];
      }),
  );
}

interface Wording {
  damage: (figures: RushFigures) => number;
  one: (stage: string, figures: RushFigures) => string;
  several: (stages: string, figures: RushFigures[]) => string;
  none: (stages: string) => string;
  rest: string;
}

/** A stage that sold nothing, or whose stock fell too far, proves nothing here: it is named and left out of the rest. */
function describe(outcomes: Outcome[], wording: Wording): string | undefined {
  const idle = outcomes.filter(({ figures }) => figures.sold === 0);
  const short = outcomes.filter(({ figures }) => figures.sold > 0 && figures.lostUpdates < 0);
  const sellers = outcomes.filter((outcome) => !idle.includes(outcome) && !short.includes(outcome));
  const clauses = [
    ...(sellers.length > 0 ? [describeSellers(sellers, wording)] : []),
    ...(short.length > 0 ? [`${nameStages(short)} ended with less stock than the sales explain`] : []),
    ...(idle.length > 0 ? [`${nameStages(idle)} sold nothing`] : []),
  ];
  if (clauses.length === 0) return undefined;
  return `${clauses.join('; ').replaceAll('; Stage', '; stage')}.`;
}

function describeSellers(sellers: Outcome[], wording: Wording): string {
  const damaged = sellers.filter(({ figures }) => wording.damage(figures) > 0);
  const lastDamaged = sellers.findLastIndex(({ figures }) => wording.damage(figures) > 0);
  const last = sellers[lastDamaged];
  const after = sellers.slice(lastDamaged + 1);
  const isStaircase = damaged.length === lastDamaged + 1;
  if (last === undefined) return wording.none(nameStages(sellers));

  const rest = after[0] === undefined ? '' : `; ${nameRest(after)} ${wording.rest}`;
  if (damaged.length === 1 || (isStaircase && rest !== ''))
    return wording.one(nameStage(last.stage), last.figures) + rest;
  const figures = damaged.map((outcome) => outcome.figures);
  return wording.several(nameStages(damaged), figures) + rest;
}

/** `from stage 2 on`, or `under stage 2` when no other was run after it. */
function nameRest([first, ...others]: Outcome[]) {
  const name = nameStage(first?.stage ?? '').replace('Stage', 'stage');
  return others.length > 0 ? `from ${name} on` : `under ${name}`;
}

function nameStage(stage: string) {
  const number = stage.match(/^(\d+)-/)?.[1];
  return number === undefined ? (rowOf(stage)?.short ?? stage) : `Stage ${number}`;
}

/** `Stage 4`, `Stages 0, 1 and 2`, `Stages 0 to 8`, `Stage 4 and redlock`. */
function nameStages(outcomes: Outcome[]): string {
  const numbers = outcomes.flatMap(({ stage }) => stage.match(/^(\d+)-/)?.[1] ?? []);
  const names = outcomes.map(({ stage }) => stage).filter((stage) => !/^\d+-/.test(stage));
  const isRow = numbers.length > 3 && numbers.every((number, i) => i === 0 || +number === Number(numbers[i - 1]) + 1);
  const numbered = isRow ? [`${numbers[0]} to ${numbers.at(-1)}`] : numbers;
  if (numbered.length === 0) return listOf(names);
  return `${numbers.length === 1 ? 'Stage' : 'Stages'} ${listOf([...numbered, ...names])}`;
}
