// Proves cells in as many processes as there are cores.

import { type ChildProcess, fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import type { Cell, Task } from '../../prove/cell.ts';
import { bundledArgs } from '../../scripts/stack/bundle.ts';

/** What is to be proved; how long it may take, the prover says. */
export type Planned = Omit<Task, 'seconds'>;

export interface ProverOptions {
  /** How long all may take, in seconds. */
  seconds: number;
  /** Ends the search: what is not known by then is unknown. */
  signal: AbortSignal;
  /** Called with each cell as soon as it is known. */
  onCell(cell: Cell): void;
}

/** A cell may take so many times its fair share of what is left of the time. */
const SHARES = 8;
/** And never less than this, in seconds. */
const LEAST_SECONDS = 1;
/** A process that does not end in time is killed, so long after its time, in milliseconds. */
const GRACE_MS = 2_000;

type Answer = { cell: Cell } | { problem: string };

/**
 * Proves the cells, in this order, and resolves with them in it; what fails with few processes is not looked at with more. A lock that can't be read, and a process that dies or does not come
 * back, make their cell unknown; another process goes on.
 */
export async function proveAll(planned: Planned[], { seconds, signal, onCell }: ProverOptions): Promise<Cell[]> {
  const node = await bundledArgs('prove/worker.ts');
  const endsAt = performance.now() + seconds * 1_000;
  const workers = Math.min(availableParallelism(), planned.length);
  const queue = [...planned.entries()];
  const cells: Cell[] = [];

  async function work() {
    let worker: ChildProcess | undefined;
    const end = () => worker?.kill('SIGKILL');
    signal.addEventListener('abort', end);
    try {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        const [index, task] = next;
        const isSame = (cell?: Cell) => cell?.stage === task.stage && cell.scope === task.scope;
        if (cells.some((cell) => isSame(cell) && cell.verdict === 'fails')) continue;
        const left = (endsAt - performance.now()) / 1_000;
        const share = Math.max(LEAST_SECONDS, (SHARES * left * workers) / (queue.length + workers));
        const given = { ...task, seconds: Math.min(left, share) };
        let answer: Answer = { cell: unknownCell(task, 'There was no time left to look at it.') };
        if (signal.aborted) answer = { cell: unknownCell(task, 'The search was interrupted.') };
        else if (left > 0) {
          worker ??= startWorker(node);
          answer = await ask(worker, given);
          if (worker.exitCode !== null || worker.signalCode !== null) worker = undefined;
        }
        const cell = 'cell' in answer ? answer.cell : unknownCell(task, answer.problem);
        cells[index] = cell;
        onCell(cell);
      }
    } finally {
      signal.removeEventListener('abort', end);
      end();
    }
  }

  async function ask(worker: ChildProcess, task: Task): Promise<Answer> {
    const timer = setTimeout(() => worker.kill('SIGKILL'), task.seconds * 1_000 + GRACE_MS);
    try {
      return await new Promise<Answer>((resolve) => {
        worker.once('message', (answer) => resolve(answer as Answer));
        worker.once('exit', () => {
          const why = signal.aborted
            ? 'The search was interrupted.'
            : 'The process of the search has died, or did not come back.';
          resolve({ cell: unknownCell(task, why) });
        });
        worker.send(task);
      });
    } finally {
      clearTimeout(timer);
      worker.removeAllListeners();
    }
  }

  await Promise.all(Array.from({ length: workers }, work));
  return cells.filter((cell) => cell !== undefined);
}

function startWorker(node: string[]): ChildProcess {
  const [file = '', ...args] = node.toReversed();
  return fork(file, {
    execArgv: [...args.toReversed(), '--disable-warning=ExperimentalWarning', '--max-old-space-size=1200'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}

/** A cell of which nothing is known. */
function unknownCell({ file: _file, ...task }: Planned, reason: string): Cell {
  return { ...task, says: '', verdict: 'unknown', reason, states: 0, schedules: 0, cut: 1, ms: 0 };
}
