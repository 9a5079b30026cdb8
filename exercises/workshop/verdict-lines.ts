// A verdict in words: what was looked at, what came of it, and the order of events that shows it.

import { countOf, formatNumber } from '../../loadtest/evidence/numbers.ts';
import { formatOrders, sizeOf } from '../../loadtest/prove/claim.ts';
import { exerciseColumns } from '../../loadtest/staircase/exercises.ts';
import { columnOf } from '../../loadtest/staircase/lookup.ts';
import type { Cell } from '../../prove/cell.ts';
import { LEASE_MS, RETRY_DELAY_MS } from '../../prove/sale.ts';
import { ANSWER_KEYS, type Exercise } from './exercise.ts';
import { type Paint, wrap } from './layout.ts';
import type { RealVerdict } from './real-judge.ts';
import type { SearchVerdict } from './search-judge.ts';
import { endOf, shownSteps } from './steps.ts';

export interface Style {
  paint: Paint;
  width: number;
}

const SHOWN_WITNESSES = 3;

/** Does the search alone tell whether the exercise is solved? */
export const isToldBySearch = ({ settings }: Exercise) => settings.fails.scope !== undefined;

/** What the search says of the file. */
export function verdictLines(exercise: Exercise, verdict: SearchVerdict, style: Style): string[] {
  const { paint, width } = style;
  const { kind, sentence, cells, failed } = verdict;
  const scopes =
    cells.length > 0
      ? [paint.dim('What may go wrong, and whether the lock holds:'), ...scopeLines(cells, style), '']
      : [];
  switch (kind) {
    case 'broken':
      return wrap(`${paint.yellow(paint.bold('It can’t be judged yet.'))} ${sentence}`, width);
    case 'unknown':
      return [...scopes, ...wrap(`${paint.yellow(paint.bold('Not known.'))} ${sentence}`, width)];
    case 'fails':
      return [
        ...scopes,
        ...wrap(`${paint.red(paint.bold('Not yet.'))} ${sentence}`, width),
        '',
        ...counterexampleLines(failed as Cell, style),
      ];
    default:
      return [...scopes, ...wrap(praiseOf(exercise, cells, paint), width)];
  }
}

function praiseOf(exercise: Exercise, cells: Cell[], paint: Paint): string {
  const [cell] = cells;
  const orders = cells.reduce((sum, { schedules }) => sum + schedules, 0);
  const size = cell === undefined ? '' : ` of ${sizeOf(cell)}`;
  const looked = `It holds in every order of events${size}: the search has looked at ${formatOrders(orders)}.`;
  if (isToldBySearch(exercise)) return `${paint.green(paint.bold('Solved.'))} ${looked}`;
  return `${looked} What this exercise asks for does not show in an order of events. ${paint.bold('Press r')}: real servers tell.`;
}

function scopeLines(cells: Cell[], { paint }: Style): string[] {
  const width = Math.max(...cells.map(({ scope }) => scope.length));
  const signs = { holds: paint.green('✔'), fails: paint.red('✘'), unknown: paint.yellow('?') };
  const words = (scope: string, says: string) =>
    scope === 'plain' ? 'Nothing from outside: no crash, no pause.' : says;
  return cells.map(
    ({ scope, says, verdict }) => `  ${signs[verdict]} ${scope.padEnd(width)}  ${paint.dim(words(scope, says))}`,
  );
}

/** The shortest order of events that breaks the lock, a line for each step. */
export function counterexampleLines({ scope, reason, counterexample = [] }: Cell, { paint, width }: Style): string[] {
  const steps = shownSteps(counterexample);
  const names = [...new Set(steps.map(({ process }) => process))];
  const nameWidth = Math.max(...names.map((name) => name.length));
  const whatWidth = Math.min(44, Math.max(...steps.map(({ what }) => what.length)));
  const paints = [paint.cyan, paint.magenta, paint.blue];
  const painted = (name: string) => {
    const at = names.filter((each) => each.length === 1).indexOf(name);
    return (paints[at] ?? paint.dim)(name.padEnd(nameWidth));
  };
  const time = (ms: number) => `${ms} ms`.padStart(9);
  const lines = steps.flatMap(({ at, process, what, came, again }) => [
    `${paint.dim(time(at))}  ${painted(process)}  ${came ? what.padEnd(whatWidth) : what}${came ? `  ${paint.bold(`${process} ${came}`)}` : ''}`,
    ...(again
      ? [
          paint.dim(
            `${' '.repeat(9)}  ${' '.repeat(nameWidth)}  … and the same ${countOf(again.times, 'time')} more, until ${again.until} ms`,
          ),
        ]
      : []),
  ]);
  return [
    ...wrap(`The shortest order of events that shows it, in the scope ${paint.bold(scope)}:`, width),
    '',
    ...lines,
    `${paint.dim(time(endOf(counterexample)))}  ${paint.red(paint.bold(reason))}`,
    '',
    ...wrap(
      paint.dim(
        `A, B and so on are processes. A lease is ${LEASE_MS} ms here, a pause between two tries ${RETRY_DELAY_MS} ms.`,
      ),
      width,
    ),
  ];
}

/** What the drills say, those that were played. */
export function realLines(verdicts: RealVerdict[], { paint, width }: Style): string[] {
  const signs = {
    pass: paint.green('✔ holds'),
    fail: paint.red('✘ does not hold'),
    unknown: paint.yellow('? not known'),
    'not-applicable': paint.dim('– could not be played'),
  };
  return verdicts.flatMap(({ drill, verdict, reason, witnesses }) => [
    `  ${paint.bold(drill)}  ${signs[verdict]}`,
    ...wrap((columnOf(drill) ?? exerciseColumns[drill])?.asks ?? '', width - 4).map((line) => `    ${paint.dim(line)}`),
    ...wrap(reason, width - 4).map((line) => `    ${line}`),
    ...witnesses.slice(0, SHOWN_WITNESSES).map((witness) => `    ${paint.dim(`${witness}.`)}`),
    ...(witnesses.length > SHOWN_WITNESSES
      ? [`    ${paint.dim(`and ${formatNumber(witnesses.length - SHOWN_WITNESSES)} more`)}`]
      : []),
  ]);
}

/** The question and its answers. */
export function questionLines({ prediction: { question, answers } }: Exercise, { paint, width }: Style): string[] {
  return [
    ...wrap(`${paint.bold('What do you expect?')} ${question}`, width),
    '',
    ...answers.flatMap(({ text }, at) =>
      wrap(`${paint.bold(ANSWER_KEYS[at] as string)}  ${text}`, width - 2, '   ').map((line) => `  ${line}`),
    ),
  ];
}

/** Whether the answer was right, and why. */
export function answerLines({ prediction }: Exercise, chosen: number, { paint, width }: Style): string[] {
  const { answers, explains } = prediction;
  const answer = answers[chosen];
  const right = answers.findIndex(({ isRight }) => isRight);
  const said = `You said ${ANSWER_KEYS[chosen]}: ${answer?.text}`;
  const judged = answer?.isRight
    ? paint.green('That is right.')
    : `${paint.yellow('That is not what happens.')} ${answer?.because} Right is ${ANSWER_KEYS[right]}: ${answers[right]?.text}`;
  return [...wrap(paint.dim(said), width), ...wrap(judged, width), ...wrap(explains, width)];
}
