// Judges the file of an exercise: with the model checker, and on real servers where that is not enough.

import { relative } from 'node:path';
import pc from 'picocolors';
import { either, reasonSaid, sentencesSaid } from '../../loadtest/narration/spoken.ts';
import { cellLines } from '../../loadtest/prove/matrix.ts';
import { searchSaid } from '../../loadtest/prove/said.ts';
import { hanging, mark } from '../../loadtest/report/terminal.ts';
import { type Cell, MOST_STATES_WHILE_ONE_WAITS } from '../../prove/cell.ts';
import { proveAll } from '../../prove/prover.ts';
import { numbered } from '../../prove/words.ts';
import { bundledArgs } from '../../stack/bundle.ts';
import { type Exercise, namedFrom, provideFile, type RealVerdict } from './exercise.ts';
import type { Task } from './task.ts';

/** An exercise and its result. */
export interface Judged {
  exercise: Exercise;
  isSolved: boolean;
  /** True if something breaks it. If it is neither solved nor broken, the result is unknown. */
  isBroken: boolean;
  /** The model checker's results, in the order of the exercise's scopes. */
  cells: Cell[];
  /** The drills that ran on real servers. */
  drills: RealVerdict[];
}

/** Judges the attendee's file; restores it first if it is missing. Rejects with the signal's reason if that aborts first. */
export async function judge(exercise: Exercise, signal: AbortSignal): Promise<Judged> {
  provideFile(exercise);
  const cells = await search(exercise, signal);
  signal.throwIfAborted();
  const isHeld = cells.every(({ verdict }) => verdict === 'holds');
  // Where the search shows the hole, it decides alone.
  const drills = isHeld && exercise.settings.fails.scope === undefined ? await playReal(exercise, signal) : [];
  return {
    ...{ exercise, cells, drills },
    isSolved: isHeld && drills.every(({ verdict }) => verdict === 'pass'),
    isBroken: cells.some(({ verdict }) => verdict === 'fails') || drills.some(({ verdict }) => verdict === 'fail'),
  };
}

async function search({ name, file, settings }: Exercise, signal: AbortSignal): Promise<Cell[]> {
  const { scopes: wanted = [], processes = 2, sales = 1, atOnce = false } = settings.search ?? {};
  const planned = wanted.map((scope) => {
    const size = { processes, sales, masters: 0, ...(atOnce && { isAtOnce: true }) };
    return { stage: name, file, scope, ...size, budget: {}, mostStates: MOST_STATES_WHILE_ONE_WAITS };
  });
  return proveAll(planned, { worker: await bundledArgs('prove/worker.ts'), signal, onCell() {} });
}

async function playReal(exercise: Exercise, signal: AbortSignal): Promise<RealVerdict[]> {
  // Most exercises need none, and are judged sooner without them.
  if (exercise.settings.search) return (await import('./lock-servers.ts')).playLock(exercise, signal);
  return (await import('./order-servers.ts')).playOrders(exercise, signal);
}

/** The task in the language that is spoken. */
export const taskSaid = ({ title, text, chinese }: Exercise): Task =>
  either({ title, text }, chinese ?? { title, text });

const sentenceOf = ({ drill, verdict, says }: RealVerdict) =>
  `${drill}${either(': ', '：')}${mark(verdict)} ${sentencesSaid(says.map(reasonSaid))}`;

/** For a terminal: whether it is solved and, if not, the shortest interleaving that shows it, or why the result is unknown. */
export function linesOf({ exercise, isSolved, isBroken, cells, drills }: Judged): string[] {
  const { name, file } = exercise;
  const sign = mark(isSolved ? 'pass' : isBroken ? 'fail' : 'unknown');
  const head = `${sign} ${pc.bold(name)}  ${taskSaid(exercise).title}  ${pc.dim(relative(namedFrom, file))}`;
  if (isSolved) return [head];
  const failed = cells.find(({ verdict }) => verdict === 'fails');
  const unknown = cells.find(({ verdict }) => verdict === 'unknown');
  const why = unknown
    ? [
        either(`Unknown: ${unknown.reason}`, `未知：${searchSaid(unknown.why)}`),
        either('See docs/learn/workshop.md', '见 docs/learn/workshop.md'),
      ]
    : drills.map(sentenceOf);
  return [head, '', ...(failed ? cellLines(failed, '  ') : why.map((line) => hanging('  ', line))), ''];
}

/** The output of `--json`, for other programs. */
export function asJson(judged: Judged[]) {
  return {
    format: 2,
    solved: judged.filter(({ isSolved }) => isSolved).length,
    exercises: judged.map(({ exercise, isSolved, cells, drills }) => ({
      ...{ name: exercise.name, title: exercise.title, file: relative(namedFrom, exercise.file), solved: isSolved },
      search: cells.map(({ scope, verdict, reason, states, schedules, counterexample = [] }) => ({
        ...{ scope, verdict, reason, states, schedules, steps: numbered(counterexample) },
      })),
      drills: drills.map(({ drill, verdict, reason }) => ({ drill, verdict, reason })),
    })),
  };
}
