// Plays cells in the virtual world, in as many processes as there are cores.

import { type ChildProcess, fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { bundledArgs } from '../../scripts/stack/bundle.ts';
import { type Cell, type DrillSettings, lostTrack } from '../harness/drill.ts';
import type { VirtualResult, VirtualTask } from './cell.ts';

export interface PlayAllOptions {
  settings: DrillSettings;
  /** Ends it: what has not been played by then is left out. */
  signal: AbortSignal;
  /** Called with each cell when it has been played, and how long that took by the clock of the machine, in milliseconds. */
  onResult(cell: Cell, result: VirtualResult, ms: number): void;
}

/** Plays the cells. A process that dies makes its cell unknown, and another goes on. */
export async function playAll(cells: Cell[], { settings, signal, onResult }: PlayAllOptions): Promise<void> {
  const node = await bundledArgs('loadtest/virtual/worker.ts');
  const queue = [...cells];

  async function work() {
    let worker: ChildProcess | undefined;
    const end = () => worker?.kill('SIGKILL');
    signal.addEventListener('abort', end);
    try {
      for (let cell = queue.shift(); cell !== undefined && !signal.aborted; cell = queue.shift()) {
        worker ??= startWorker(node);
        const startedAt = performance.now();
        const result = await ask(worker, { stage: cell.stage, drill: cell.drill.name, settings });
        if (signal.aborted) return;
        if (worker.exitCode !== null || worker.signalCode !== null) worker = undefined;
        onResult(cell, result, performance.now() - startedAt);
      }
    } finally {
      signal.removeEventListener('abort', end);
      end();
    }
  }

  await Promise.all(Array.from({ length: Math.min(availableParallelism(), cells.length) }, work));
}

async function ask(worker: ChildProcess, task: VirtualTask): Promise<VirtualResult> {
  try {
    return await new Promise<VirtualResult>((resolve) => {
      worker.once('message', resolve);
      worker.once('exit', () => resolve({ outcome: lostTrack(new Error('The process that played it has died.')) }));
      worker.send(task);
    });
  } finally {
    worker.removeAllListeners();
  }
}

function startWorker(node: string[]): ChildProcess {
  const [file = '', ...args] = node.toReversed();
  return fork(file, {
    execArgv: [...args.toReversed(), '--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}
