// A verdict in words: what was looked at, what came of it, and the order of events that shows it.

import { countOf, formatNumber, formatOrders } from '../../loadtest/evidence/numbers.ts';
import { exerciseColumns } from '../../loadtest/staircase/exercises.ts';
import { columnOf } from '../../loadtest/staircase/lookup.ts';
import type { Cell } from '../../prove/cell.ts';
import { LEASE_MS, RETRY_DELAY_MS } from '../../prove/sale.ts';
import type { Exercise } from './exercise.ts';
import { hang, type Paint, wrap } from './layout.ts';
import type { RealVerdict } from './real-judge.ts';
import type { SearchVerdict } from './search-judge.ts';
import { endOf, reasonOf, shownSteps } from './steps.ts';

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
      return wrap(`${paint.yellow(paint.bold("It can't be judged yet."))} ${sentence}`, width);
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
  // Some scopes need a process more than the others.
  const sizeOf = ({ processes, sales }: Cell) =>
    `${countOf(processes, 'process', 'processes')} × ${countOf(sales, 'sale')}`;
  const sizes = [...new Set(cells.map(sizeOf))];
  const orders = cells.reduce((sum, { schedules }) => sum + schedules, 0);
  const size = sizes.length === 0 ? '' : `, with ${sizes.join(' and with ')}`;
  const within = cells.length === 1 ? 'this scope' : `these ${cells.length} scopes`;
  const isOneOrder = orders === 1 && cells.every(({ processes }) => processes === 1);
  const count = `${formatOrders(orders)} ${orders === 1 ? 'order' : 'orders'}`;
  const why = isOneOrder ? ', because one process runs its sales in one order only' : '';
  const looked = `It holds in every order of events of ${within}${size}: the search has looked at ${count}${why}.`;
  if (isToldBySearch(exercise)) return `${paint.green(paint.bold('Solved.'))} ${looked}`;
  return `${looked} What this exercise asks for does not show in an order of events: real servers decide.`;
}

function scopeLines(cells: Cell[], { paint, width }: Style): string[] {
  const longest = Math.max(...cells.map(({ scope }) => scope.length));
  const signs = { holds: paint.green('✔'), fails: paint.red('✘'), unknown: paint.yellow('?') };
  const words = (scope: string, says: string) =>
    scope === 'plain' ? 'Nothing from outside: no crash, no pause.' : says;
  return cells.flatMap(({ scope, says, verdict }) =>
    hang(`  ${signs[verdict]} ${scope.padEnd(longest)}  `, paint.dim(words(scope, says)), width),
  );
}

/** The shortest order of events that breaks the lock, a line for each step. */
export function counterexampleLines(failed: Cell, { paint, width }: Style): string[] {
  const { scope, counterexample = [] } = failed;
  const steps = shownSteps(failed);
  const names = [...new Set(steps.map(({ process }) => process))];
  const nameWidth = Math.max(...names.map((name) => name.length));
  const whatWidth = Math.min(44, Math.max(0, ...steps.map(({ what, came }) => (came ? what.length : 0))));
  const paints = [paint.cyan, paint.magenta, paint.blue];
  const painted = (name: string) => {
    const at = names.filter((each) => each.length === 1).indexOf(name);
    return (paints[at] ?? paint.dim)(name.padEnd(nameWidth));
  };
  const time = (ms: number) => `${ms} ms`.padStart(9);
  const lines = steps.flatMap(({ at, process, what, came, again }) => {
    const head = `${paint.dim(time(at))}  ${painted(process)}  `;
    const below = ' '.repeat(9 + 2 + nameWidth + 2);
    const times = again && `… and the same ${countOf(again.times, 'time')} more, until ${again.until} ms`;
    const cameOf = came === undefined ? '' : `${process} ${came}`;
    const isShort = below.length + whatWidth + 2 + cameOf.length <= width;
    if (cameOf && isShort && what.length <= whatWidth)
      return [`${head}${what.padEnd(whatWidth)}  ${paint.bold(cameOf)}`];
    return [
      ...hang(head, what, width),
      ...(cameOf ? hang(below, paint.bold(cameOf), width) : []),
      ...(times ? hang(below, paint.dim(times), width) : []),
    ];
  });
  return [
    ...wrap(`The shortest order of events that shows it, in the scope ${paint.bold(scope)}:`, width),
    '',
    ...lines,
    ...hang(`${paint.dim(time(endOf(counterexample)))}  `, paint.red(paint.bold(reasonOf(failed))), width),
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
    ...hang(
      `  ${paint.bold(drill)}  ${signs[verdict]}  `,
      paint.dim((columnOf(drill) ?? exerciseColumns[drill])?.asks ?? ''),
      width,
    ),
    ...hang('    ', reason, width),
    ...witnesses.slice(0, SHOWN_WITNESSES).flatMap((witness) => hang('    ', paint.dim(`${witness}.`), width)),
    ...(witnesses.length > SHOWN_WITNESSES
      ? [`    ${paint.dim(`and ${formatNumber(witnesses.length - SHOWN_WITNESSES)} more`)}`]
      : []),
  ]);
}
