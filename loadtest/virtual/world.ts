// The virtual world: cells are played in processes of their own, as many as run at the same time.

import { type ChildProcess, fork } from 'node:child_process';
import { bundledArgs } from '../../scripts/stack/bundle.ts';
import type { LockSource } from '../../virtual/lock-service.ts';
import { type DrillSettings, lostTrack } from '../harness/drill.ts';
import type { Audience, Played, World } from '../harness/run-cell.ts';
import { SIGN_EVERY_MS, type VirtualResult, type VirtualTask } from './cell.ts';

/**
 * A process that gives no sign for so long has been kept by its lock, and is killed, in milliseconds. A right library that computes for a
 * second in one piece needs ten of them on a busy machine.
 */
const SILENCE_MS = 30_000;
const SILENT = 'The lock never comes back: it keeps its process for ever, as when the event loop is blocked.';

export interface VirtualWorldOptions {
  settings: DrillSettings;
  /** External locks, by their rows. */
  locks?: Record<string, LockSource> | undefined;
  /** How long a process may give no sign, in milliseconds; 30 s when it is not given. */
  silenceMs?: number;
}

/**
 * Opens the virtual world. A process that dies makes its cell unknown, or failed where an external lock has kept it for ever, and another
 * takes its place. Such a lock is not played again: its other cells have failed, too.
 */
export function openVirtualWorld({ settings, locks = {}, silenceMs = SILENCE_MS }: VirtualWorldOptions) {
  const node = bundledArgs('loadtest/virtual/worker.ts');
  node.catch(() => {});
  const workers = new Map<number, ChildProcess>();
  /** What came of external locks that never come back. */
  const endless = new Map<string, Played>();

  function end(place: number) {
    workers.get(place)?.kill('SIGKILL');
    workers.delete(place);
  }

  async function workerAt(place: number): Promise<ChildProcess> {
    const worker = workers.get(place) ?? startWorker(await node);
    workers.set(place, worker);
    return worker;
  }

  return {
    isVirtual: true,
    /** Plays a drill, or a conformance check. */
    async play({ stage, drill }: { stage: string; drill: { name: string } }, _audience: Audience, place: number) {
      const known = endless.get(stage);
      if (known !== undefined) return known;
      const lock = locks[stage];
      const task = { stage, drill: drill.name, settings, ...(lock && { lock }) };
      const { endsProcess, isEndless, ...played } = await ask(await workerAt(place), task, silenceMs);
      if (endsProcess) end(place);
      if (isEndless) endless.set(stage, played);
      return played;
    },
    /** Ends its processes. What is being played is unknown. */
    close() {
      for (const place of [...workers.keys()]) end(place);
    },
  } satisfies World & { close(): void };
}

type Answer = VirtualResult & { isEndless?: boolean };

async function ask(worker: ChildProcess, task: VirtualTask, silenceMs: number): Promise<Answer> {
  const ended = lostTrack(new Error('The process that played it has died.'));
  const kept = { outcome: { ...ended, verdict: 'fail' as const, reasons: [SILENT] }, isEndless: true };
  let isSilent = false;
  /** Signs are counted, and not time: this process may stand still, too. Until it has given one, the worker starts. */
  let missing: number | undefined;
  const watch = setInterval(() => {
    if (missing === undefined) return;
    missing += 1;
    isSilent = missing * SIGN_EVERY_MS > silenceMs;
    if (isSilent) worker.kill('SIGKILL');
  }, SIGN_EVERY_MS);
  try {
    return await new Promise<Answer>((resolve) => {
      worker.on('message', (answer: VirtualResult | 'alive') => {
        if (answer === 'alive') missing = 0;
        else resolve(answer);
      });
      worker.once('exit', () =>
        resolve(isSilent && task.lock ? { ...kept, endsProcess: true } : { outcome: ended, endsProcess: true }),
      );
      worker.send(task);
    });
  } finally {
    clearInterval(watch);
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
