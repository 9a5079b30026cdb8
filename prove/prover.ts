// Proves cells in as many processes as there are cores, and memory for.

import { availableParallelism, freemem } from 'node:os';
import { type SilenceLimits, usualLimits } from '../stack/signs.ts';
import { openWorker } from '../stack/worker-process.ts';
import { type Cell, MOST_MEMORY, type Task } from './cell.ts';
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

const DIED = says('search died');
const INTERRUPTED = says('interrupted');

type Answer = { cell: Cell } | { problem: string };

/**
 * Proves the cells, in this order, and resolves with them in it; what fails with few processes is left out with more. A lock that
 * can't be read, and a process that dies or does not come back, make their cell unknown; another process goes on.
 */
export async function proveAll(
  planned: Task[],
  { worker: node, signal, onCell, limits = usualLimits }: ProverOptions,
): Promise<Cell[]> {
  const workers = Math.min(workersFor(availableParallelism(), freemem()), planned.length);
  const queue = [...planned.entries()];
  const cells: Cell[] = [];
  /** Locks under which a process has died, by their files: they are not tried again. */
  const deadly = new Set<string>();

  async function work() {
    const worker = openWorker<Answer>({ node, execArgv: ['--max-old-space-size=1200'], limits });
    signal.addEventListener('abort', worker.end);
    try {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        const [index, task] = next;
        if (failsWithFewer(task, cells)) continue;
        const cell = await prove(task);
        cells[index] = cell;
        onCell(cell);
      }
    } finally {
      signal.removeEventListener('abort', worker.end);
      worker.end();
    }

    async function prove(task: Task): Promise<Cell> {
      if (signal.aborted) return unknownCell(task, INTERRUPTED);
      if (deadly.has(task.file)) return unknownCell(task, DIED);
      const answer = await worker.ask(task);
      if (answer === undefined) {
        deadly.add(task.file);
        return unknownCell(task, signal.aborted ? INTERRUPTED : DIED);
      }
      return 'cell' in answer ? answer.cell : unknownCell(task, says('unreadable', { problem: answer.problem }));
    }
  }

  await Promise.all(Array.from({ length: workers }, work));
  // Another process may have looked at it meanwhile.
  return cells.filter((cell) => cell !== undefined && !failsWithFewer(cell, cells));
}

/** As many as there are cores, and memory for: one at least. */
export const workersFor = (cores: number, freeBytes: number) =>
  Math.max(1, Math.min(cores, Math.floor(freeBytes / MOST_MEMORY)));

/** Is there a counterexample with fewer processes? */
function failsWithFewer(
  { stage, scope, processes }: Pick<Cell, 'stage' | 'scope' | 'processes'>,
  cells: Cell[],
): boolean {
  const isSmaller = (cell: Cell) => cell.stage === stage && cell.scope === scope && cell.processes < processes;
  return cells.some((cell) => cell.verdict === 'fails' && isSmaller(cell));
}

/** A cell of which nothing is known. */
function unknownCell({ file: _file, mostStates: _mostStates, ...task }: Task, why: SearchSentence): Cell {
  return { ...task, says: '', verdict: 'unknown', reason: inEnglish(why), why, states: 0, schedules: 0, cut: 1, ms: 0 };
}
