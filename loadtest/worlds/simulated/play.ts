// Plays a drill in the simulation: it takes almost no real time, and its log is the same each time.

import type { PlayEvent } from '../../../simulation/events.ts';
import { type Lab, openLab } from '../../../simulation/lab.ts';
import { type LockSource, lockNamed } from '../../../simulation/lock-service.ts';
import { logOf as linesOf } from '../../../simulation/log.ts';
import type { Drill, DrillOutcome, DrillSettings, Narrate } from '../../harness/drill.ts';
import type { Target } from '../../harness/target.ts';
import { because, type Reason, ReasonedError } from '../../narration/reasons.ts';
import { narrated, type StepSentence } from '../../narration/steps.ts';
import type { Harness } from './driver.ts';
import { openVirtualTarget } from './target.ts';

export const LEASE_MS = 1_000;
const MASTERS = 5;
/** After how long a drill counts as endless, in milliseconds of the simulated clock. */
const LIMIT_MS = 900_000;

/** A load that is small, and large enough to tell. */
export const usualSettings = { requests: 60, connections: 15, stock: 500, units: 30, leaseMs: LEASE_MS };

/** Drills that the simulation can't run, and why. */
export const REAL_ONLY: Record<string, Reason> = {
  'long-wait': because('no memory of its own', {}),
};

export interface PlayOptions {
  /** The lock, when it is none of the playing. */
  lock?: LockSource;
  settings?: Partial<DrillSettings>;
  /** Another target than the one that is given. */
  wrap?: (target: Target) => Target;
  narrate?: Narrate;
  /** A load ends when nobody has been given the lock for longer than a sale waits for it. */
  givesUp?: boolean;
  /** Called before the drill begins: from here on processes may stand still. */
  disturb?: (lab: Lab, harness: Harness) => void;
}

export interface Played {
  outcome: DrillOutcome;
  /** What happened, with the milliseconds of the simulated clock. */
  log: string[];
  /** How long it took by the simulated clock, in milliseconds. */
  virtualMs: number;
  /** What the lock has used that the simulation does not have, such as `worker_threads.Worker()`: then the outcome says nothing of it. */
  lacking?: string;
}

/** Plays a drill under a stage or a strategy. Rejects when the drill does, and when it does not end. */
export function playDrill(drill: Drill, stage: string, options: PlayOptions = {}): Promise<Played> {
  const { lock = lockNamed(stage), wrap = (target) => target, narrate = async () => {}, disturb = () => {} } = options;
  const settings = { ...usualSettings, ...options.settings };
  return inVirtualWorld({ lock, leaseMs: settings.leaseMs }, async (target, lab, harness) => {
    disturb(lab, harness);
    const outcome = await drill.run({
      target: wrap(target),
      stage,
      settings,
      signal: new AbortController().signal,
      onProgress() {},
      narrate(sentence, atMs, isStep, line) {
        lab.tell({ kind: 'sentence', sentence, line });
        return narrate(sentence, atMs, isStep, line);
      },
      tries: 1,
      ...(options.givesUp && { givesUp: true }),
    });
    const lacking = lab.lacking();
    return { outcome, log: logOf(lab, outcome), virtualMs: lab.now(), ...(lacking !== undefined && { lacking }) };
  });
}

/** What happened, and what came of it. */
function logOf({ events, now }: Lab, { verdict, reasons }: DrillOutcome) {
  const ended = `${now().toFixed(2).padStart(9)} ${verdict}: ${reasons.join(' ')}`;
  return [...linesOf(events as PlayEvent<StepSentence>[], narrated), ended];
}

/**
 * Opens the simulation, and resolves as `act` does. Rejects when that comes to no end in a quarter of an hour of its clock.
 */
export async function inVirtualWorld<T>(
  { lock, leaseMs = LEASE_MS }: { lock: LockSource; leaseMs?: number | undefined },
  act: (target: Target, lab: Lab, harness: Harness) => Promise<T>,
): Promise<T> {
  const masters = lock.facts.backend === 'masters' ? MASTERS : 0;
  const lab = await openLab({ lock, leaseMs, masters });
  const { target, harness } = await openVirtualTarget(lab, { hasReplica: (lock.facts.replicas ?? 0) > 0 });
  try {
    let isOver = false;
    const end = () => {
      isOver = true;
    };
    const acting = act(target, lab, harness);
    acting.then(end, end);
    await lab.schedule.until(() => isOver, LIMIT_MS);
    if (!isOver) throw new ReasonedError(because('no end', { lock: lock.name }));
    return await acting;
  } finally {
    lab.close();
  }
}
