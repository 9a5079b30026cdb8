// Checks cells in parallel, in as many processes as cores and memory allow.

import { availableParallelism, freemem } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import { type SilenceLimits, usualLimits } from '../stack/signs.ts';
import { openWorker } from '../stack/worker-process.ts';
import { type Cell, MOST_MEMORY, type SharedTask, type Task } from './cell.ts';
import { type Scope, scopes } from './scopes.ts';
import { inEnglish, type SearchSentence, says } from './wording.ts';

interface ProverOptions {
  /** The arguments with which Node runs `prove/worker.ts`. */
  worker: string[];
  /** Ends the search: what is not known by then is unknown. */
  signal: AbortSignal;
  /** Called with each cell as soon as it is known. */
  onCell(cell: Cell): void;
  /** How long a process may give no sign; as usual when they are not given. */
  limits?: SilenceLimits;
}

/** Most of what a search makes stays for long: with more room for what is new, that is copied less often. */
const MEMORY = ['--max-old-space-size=1200', '--max-semi-space-size=32'];

const DIED = says('search died');
const INTERRUPTED = says('interrupted');

type Answer = { cells: Cell[] } | { problem: string };

/** A task, and its place among those that were planned. */
type Planned = [index: number, task: Task];

/**
 * Proves the cells, and resolves with them in this order; what fails with few processes is left out with more. Cells in which the same can
 * happen are searched together. A lock that can't be read, and a process that dies or does not come back, make their cells unknown;
 * another process goes on.
 */
export async function proveAll(
  planned: Task[],
  { worker: node, signal, onCell, limits = usualLimits }: ProverOptions,
): Promise<Cell[]> {
  const workers = Math.min(workersFor(availableParallelism(), freemem()), planned.length);
  const queue = inOrder(planned);
  const cells: Cell[] = [];
  /** Locks under which a process has died, by their files: they are not tried again. */
  const deadly = new Set<string>();

  async function work() {
    const worker = openWorker<Answer>({ node, execArgv: MEMORY, limits });
    signal.addEventListener('abort', worker.end);
    try {
      for (let next = takeTogether(queue); next.length > 0; next = takeTogether(queue)) {
        const wanted = next.filter(([, task]) => !failsWithFewer(task, cells));
        const found = await prove(wanted.map(([, task]) => task));
        for (const [at, [index]] of wanted.entries()) {
          const cell = found[at] as Cell;
          cells[index] = cell;
          onCell(cell);
        }
      }
    } finally {
      signal.removeEventListener('abort', worker.end);
      worker.end();
    }

    async function prove(tasks: Task[]): Promise<Cell[]> {
      const [task, ...others] = tasks;
      if (task === undefined) return [];
      const unknown = (why: SearchSentence) => tasks.map((each) => unknownCell(each, why));
      if (signal.aborted) return unknown(INTERRUPTED);
      if (deadly.has(task.file)) return unknown(DIED);
      const shared: SharedTask = { ...task, sharedWith: others.map(({ scope }) => scope) };
      const answer = await worker.ask(shared);
      if (answer === undefined) {
        deadly.add(task.file);
        return unknown(signal.aborted ? INTERRUPTED : DIED);
      }
      return 'cells' in answer ? answer.cells : unknown(says('unreadable', { problem: answer.problem }));
    }
  }

  await Promise.all(Array.from({ length: workers }, work));
  // Another process may have looked at it meanwhile.
  return cells.filter((cell) => cell !== undefined && !failsWithFewer(cell, cells));
}

/** Orders the tasks: those with many processes first, because they take longest, unless they wait for the result with fewer. */
export function inOrder(planned: Task[]): Planned[] {
  const waits = (task: Task) => planned.some((other) => isSmaller(other, task));
  const rank = (task: Task) => (waits(task) ? 0 : task.processes);
  return [...planned.entries()].toSorted(([, one], [, other]) => rank(other) - rank(one));
}

/** Takes the next task, and those that only ask something else of the same states. */
function takeTogether(queue: Planned[]): Planned[] {
  const next = queue.shift();
  if (next === undefined) return [];
  const together = queue.filter(([, task]) => isSameSearch(task, next[1]));
  for (const one of together) queue.splice(queue.indexOf(one), 1);
  return [next, ...together];
}

function isSameSearch({ scope: oneName, ...one }: Task, { scope: otherName, ...other }: Task): boolean {
  if (oneName === otherName || !isDeepStrictEqual(one, other)) return false;
  const [oneScope, otherScope] = [oneName, otherName].map((name) => scopes.find((scope) => scope.name === name));
  return (
    oneScope !== undefined && otherScope !== undefined && isDeepStrictEqual(eventsOf(oneScope), eventsOf(otherScope))
  );
}

/** What can happen in a scope: all but what is said and demanded of it, and of which locks. */
const eventsOf = ({ name: _, says: _says, demands: _demands, servers: _servers, ...events }: Scope) => events;

/** As many as there are cores, and memory for: one at least. */
export const workersFor = (cores: number, freeBytes: number) =>
  Math.max(1, Math.min(cores, Math.floor(freeBytes / MOST_MEMORY)));

type Sized = Pick<Cell, 'stage' | 'scope' | 'processes'>;

/** Is it the same with fewer processes? */
const isSmaller = (one: Sized, other: Sized) =>
  one.stage === other.stage && one.scope === other.scope && one.processes < other.processes;

/** Is there a counterexample with fewer processes? */
const failsWithFewer = (task: Sized, cells: Cell[]): boolean =>
  cells.some((cell) => cell.verdict === 'fails' && isSmaller(cell, task));

/** A cell of which nothing is known. */
function unknownCell({ file: _file, mostStates: _mostStates, ...task }: Task, why: SearchSentence): Cell {
  return { ...task, says: '', verdict: 'unknown', reason: inEnglish(why), why, states: 0, schedules: 0, cut: 1, ms: 0 };
}
