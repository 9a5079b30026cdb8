// Runs a drill again when the machine was too busy to tell anything.

import { monitorEventLoopDelay } from 'node:perf_hooks';
import { formatDuration } from '../evidence/numbers.ts';
import { type DrillOutcome, lostTrack, type Narrate } from './drill.ts';

const TRIES = 4;

export interface Attempt {
  outcome: DrillOutcome;
  /** For how long nothing went on at worst, in milliseconds. */
  standstillMs: number;
  /** With an unknown outcome: a step came too late, and may come in time when the drill is run again. */
  isLate?: boolean;
}

export interface Limits {
  /** After a standstill as long as this any verdict may be wrong, in milliseconds. */
  wrongMs: number;
  /** One as long as this may be why a fault could not be staged, in milliseconds; with 0 it is tried again whatever the reason. */
  hinderingMs: number;
  /** How often the drill is run at most; 4 times when it is not given. */
  tries?: number | undefined;
  narrate: Narrate;
}

/**
 * Resolves with the outcome of the first attempt that the machine did not spoil. When it has spoilt all of them the verdict is
 * `unknown`; what could not be staged keeps its own reason.
 */
export async function runAgainIfBusy(attempt: () => Promise<Attempt>, limits: Limits): Promise<DrillOutcome> {
  const { wrongMs, hinderingMs, tries = TRIES, narrate } = limits;
  for (let tried = 1; ; tried += 1) {
    const { outcome, standstillMs, isLate = false } = await attempt();
    const isUnknown = outcome.verdict === 'unknown' && !outcome.nothingToBreak;
    const isSpoilt = standstillMs >= (isUnknown ? hinderingMs : wrongMs);
    if (!isSpoilt && !isLate) return outcome;
    if (isUnknown && tried === tries) return { ...outcome, isSpoilt };
    const busy = `The machine was too busy: for ${formatDuration(standstillMs)} nothing went on.`;
    const reason = isLate || (isUnknown && hinderingMs === 0) ? (outcome.reasons[0] ?? busy) : busy;
    if (tried === tries) return { ...outcome, ...lostTrack(reason), figures: {}, events: outcome.events, isSpoilt };
    await narrate(`${reason} The drill is run again.`, 0, false);
  }
}

/** Runs it, and measures how late the event loop of this process was at worst. */
export async function watchingThisProcess(run: () => Promise<DrillOutcome>): Promise<Attempt> {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  const outcome = await run().finally(() => delay.disable());
  return { outcome, standstillMs: delay.max / 1e6 };
}
