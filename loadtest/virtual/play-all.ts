// Plays cells in the virtual world, in as many processes as there are cores.

import { type ChildProcess, fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { bundledArgs } from '../../scripts/stack/bundle.ts';
import type { LockSource } from '../../virtual/lock-service.ts';
import { type Cell, type DrillSettings, lostTrack } from '../harness/drill.ts';
import type { VirtualResult, VirtualTask } from './cell.ts';

/** A process that gives no sign for so long has been kept by its lock, and is killed, in milliseconds. */
const SILENCE_MS = 8_000;
const SILENT = 'The lock never comes back: it keeps its process for ever, as when the event loop is blocked.';

/** A drill, or a conformance check, under a lock. */
interface NamedCell {
  stage: string;
  drill: { name: string };
}

export interface PlayAllOptions<Played = Cell> {
  settings: DrillSettings;
  /** External locks, by their rows. */
  locks?: Record<string, LockSource> | undefined;
  /** How long a process may give no sign, in milliseconds; 8 s when it is not given. */
  silenceMs?: number;
  /** Ends it: what has not been played by then is left out. */
  signal: AbortSignal;
  /** Called with each cell when it has been played, and how long that took by the clock of the machine, in milliseconds. */
  onResult(cell: Played, result: VirtualResult, ms: number): void;
}

/**
 * Plays the cells. A process that dies makes its cell unknown, or failed where an external lock has kept it for ever, and another goes on.
 * Such a lock is not played again: its other cells have failed, too.
 */
export async function playAll<Played extends NamedCell>(
  cells: Played[],
  options: PlayAllOptions<Played>,
): Promise<void> {
  const { settings, locks = {}, silenceMs = SILENCE_MS, signal, onResult } = options;
  const node = await bundledArgs('loadtest/virtual/worker.ts');
  const queue = [...cells];
  /** What came of external locks that never come back. */
  const endless = new Map<string, VirtualResult>();

  async function work() {
    let worker: ChildProcess | undefined;
    const end = () => worker?.kill('SIGKILL');
    signal.addEventListener('abort', end);
    try {
      for (let cell = queue.shift(); cell !== undefined && !signal.aborted; cell = queue.shift()) {
        const { stage } = cell;
        const lock = locks[stage];
        const startedAt = performance.now();
        let result: Answer | undefined = endless.get(stage);
        if (result === undefined) {
          worker ??= startWorker(node);
          result = await ask(worker, { stage, drill: cell.drill.name, settings, ...(lock && { lock }) }, silenceMs);
        }
        if (signal.aborted) return;
        if (result.endsProcess) {
          end();
          worker = undefined;
        }
        if (result.isEndless) endless.set(stage, result);
        onResult(cell, result, performance.now() - startedAt);
      }
    } finally {
      signal.removeEventListener('abort', end);
      end();
    }
  }

  await Promise.all(Array.from({ length: Math.min(availableParallelism(), cells.length) }, work));
}

type Answer = VirtualResult & { isEndless?: boolean };

async function ask(worker: ChildProcess, task: VirtualTask, silenceMs: number): Promise<Answer> {
  const ended = lostTrack(new Error('The process that played it has died.'));
  const kept = { outcome: { ...ended, verdict: 'fail' as const, reasons: [SILENT] }, isEndless: true };
  let isSilent = false;
  const timer = setTimeout(() => {
    isSilent = true;
    worker.kill('SIGKILL');
  }, silenceMs);
  try {
    return await new Promise<Answer>((resolve) => {
      worker.on('message', (answer: VirtualResult | 'alive') => {
        if (answer === 'alive') timer.refresh();
        else resolve(answer);
      });
      worker.once('exit', () =>
        resolve(isSilent && task.lock ? { ...kept, endsProcess: true } : { outcome: ended, endsProcess: true }),
      );
      worker.send(task);
    });
  } finally {
    clearTimeout(timer);
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
