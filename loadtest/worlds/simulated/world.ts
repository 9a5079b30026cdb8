// The simulated world: plays cells in separate processes, several at the same time.

import type { LockSource } from '../../../simulation/lock-service.ts';
import { bundledArgs } from '../../../stack/bundle.ts';
import { type Silence, type SilenceLimits, usualLimits } from '../../../stack/signs.ts';
import { openWorker, type Worker } from '../../../stack/worker-process.ts';
import { type Audience, type DrillSettings, lostTrack, type Played, type World } from '../../harness/drill.ts';
import type { VirtualResult } from './cell.ts';

export interface SimulatedWorldOptions {
  settings: DrillSettings;
  /** External locks, by their rows. */
  locks?: Record<string, LockSource> | undefined;
  /** How long a process may give no sign; as usual when they are not given. */
  limits?: SilenceLimits;
}

/**
 * Opens the simulation. A process that dies makes its cell unknown, or failed where an external lock has kept it for ever, and another
 * takes its place. Such a lock is not played again: its other cells end as this one.
 */
export function simulatedWorld({ settings, locks = {}, limits = usualLimits }: SimulatedWorldOptions) {
  const node = bundledArgs('loadtest/worlds/simulated/worker.ts');
  node.catch(() => {});
  const workers = new Map<number, Worker<VirtualResult>>();
  /** What came of external locks that never come back. */
  const endless = new Map<string, Played>();

  function workerAt(place: number) {
    const worker = workers.get(place) ?? openWorker<VirtualResult>({ node, limits });
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
      let silence: Silence | undefined;
      const worker = workerAt(place);
      const answer = await worker.ask(task, (found) => {
        silence = found;
      });
      if (answer === undefined) {
        const died = { outcome: lostTrack(new Error('The process that played it has died.')) };
        if (lock === undefined || silence === undefined) return died;
        const played = { outcome: { ...died.outcome, ...silence } };
        endless.set(stage, played);
        return played;
      }
      const { endsProcess, ...played } = answer;
      if (endsProcess) worker.end();
      return played;
    },
    /** Ends its processes. What is being played is unknown. */
    close() {
      for (const worker of workers.values()) worker.end();
    },
  } satisfies World & { close(): void };
}
