// The virtual world: cells are played in processes of their own, as many as run at the same time.

import { type ChildProcess, fork } from 'node:child_process';
import { bundledArgs } from '../../scripts/stack/bundle.ts';
import type { LockSource } from '../../virtual/lock-service.ts';
import { type SilenceLimits, usualLimits, watchSilence } from '../../virtual/signs.ts';
import { type Audience, type DrillSettings, lostTrack, type Played, type World } from '../harness/drill.ts';
import type { VirtualResult, VirtualTask } from './cell.ts';

export interface VirtualWorldOptions {
  settings: DrillSettings;
  /** External locks, by their rows. */
  locks?: Record<string, LockSource> | undefined;
  /** How long a process may give no sign; as usual when they are not given. */
  limits?: SilenceLimits;
}

/**
 * Opens the virtual world. A process that dies makes its cell unknown, or failed where an external lock has kept it for ever, and another
 * takes its place. Such a lock is not played again: its other cells end as this one.
 */
export function openVirtualWorld({ settings, locks = {}, limits = usualLimits }: VirtualWorldOptions) {
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
      const { endsProcess, isEndless, ...played } = await ask(await workerAt(place), task, limits);
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

/** Processes that have answered: such a one does not start any more. */
const answered = new WeakSet<ChildProcess>();

type Answer = VirtualResult & { isEndless?: boolean };

async function ask(worker: ChildProcess, task: VirtualTask, limits: SilenceLimits): Promise<Answer> {
  const died = lostTrack(new Error('The process that played it has died.'));
  let endless: Partial<Played['outcome']> | undefined;
  const pidOf = () => worker.pid ?? 0;
  const silence = watchSilence(pidOf, limits, (found) => {
    if (task.lock) endless = found;
    worker.kill('SIGKILL');
  });
  try {
    return await new Promise<Answer>((resolve) => {
      worker.on('message', (answer: VirtualResult | 'alive') => {
        if (answer === 'alive') silence.hearSign();
        else {
          answered.add(worker);
          resolve(answer);
        }
      });
      worker.once('exit', () => {
        if (endless === undefined) return resolve({ outcome: died, endsProcess: true });
        resolve({ outcome: { ...died, ...endless }, isEndless: true, endsProcess: true });
      });
      if (answered.has(worker)) silence.hearSign();
      worker.send(task);
    });
  } finally {
    silence.close();
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
