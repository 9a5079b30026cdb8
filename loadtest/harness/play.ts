// Runs a step-by-step drill to its verdict, and again when the first run is inconclusive.

import type { Hold } from '../evidence/history.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import type { Verdict } from '../evidence/results.ts';
import type { Sight } from '../narration/evidence.ts';
import { because, explainedInOne, type Reason, ReasonedError, reasonOf } from '../narration/reasons.ts';
import { told } from '../narration/steps.ts';
import type { Clock } from './clock.ts';
import { type DrillOutcome, firstOf, lostTrack, type Narrate } from './drill.ts';

/** How long the current step may take to end when a drill is stopped, in milliseconds. */
const STOP_LIMIT_MS = 10_000;
/** How often a drill is played at most. */
const TRIES = 4;

/** A drill is stuck: it is not run again. */
export class StuckError extends ReasonedError {
  /** What it waits for. */
  readonly step: Promise<unknown>;

  constructor(reason: Reason, step: Promise<unknown>) {
    super(reason);
    this.step = step;
  }
}

export interface Judgement {
  verdict: Exclude<Verdict, 'not-applicable'>;
  /** Why, a sentence each. */
  says: Reason[];
  /** What was measured: milliseconds where the name ends in Ms. */
  figures: Record<string, number>;
  evidence: Sight[];
  /** Which holders may not meet; all of them when it is not given. Meetings of others are not drawn as faults. */
  isJudged?: (hold: Hold) => boolean;
  /** With `unknown`: the lock never takes the step that the drill breaks. */
  nothingToBreak?: boolean;
  /** With `unknown`: what kept the drill from its end was no step of it, and says nothing of the lock. */
  isSpoilt?: boolean;
}

/**
 * Follows the playing of a drill to its judgement, and closes its test bed. What the playing rejects with is why nothing may be concluded.
 * Rejects with StuckError when the playing does, and with the signal's reason when that aborts first; the test bed is
 * closed all the same. When it can't be, that is what it rejects with.
 */
export async function play(
  testBed: {
    clock: Clock;
    stop(): void;
    close(
      isJudged?: Judgement['isJudged'],
    ): Promise<Pick<DrillOutcome, 'timeline' | 'deeds' | 'told' | 'events'> & Pick<Attempt, 'standstillMs'>>;
  },
  playing: Promise<Judgement>,
  signal?: AbortSignal,
): Promise<Attempt> {
  const judgement = await untilStopped(playing, signal).catch(async (error) => {
    if (!signal?.aborted && !(error instanceof StuckError)) {
      return { ...notStaged(reasonOf(error), error), isSpoilt: !(error instanceof NotStagedError) };
    }
    // What it has begun comes to its end before it is undone.
    testBed.stop();
    const begun: Promise<unknown> = error instanceof StuckError ? error.step : playing;
    await Promise.race([begun.catch(() => {}), testBed.clock.sleep(STOP_LIMIT_MS, undefined, { ref: false })]);
    await testBed.close().catch((left: Error) => {
      const why = error instanceof Error ? error.message : error;
      throw new Error(`${why} And the stack could not be restored: ${left.message}`, { cause: error });
    });
    throw error;
  });
  const { verdict, says, figures, evidence, isJudged, nothingToBreak = false, isSpoilt = false } = judgement;
  const { standstillMs, ...left } = await testBed.close(isJudged);
  return {
    outcome: {
      ...{ verdict, ...explainedInOne(says) },
      ...{ figures, ...firstOf(evidence), nothingToBreak, isSpoilt, ...left },
    },
    standstillMs,
  };
}

/** Settles like the promise, or rejects with the signal's reason when that aborts first. */
function untilStopped<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal?.reason);
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop);
    promise.then(resolve, reject).finally(() => signal?.removeEventListener('abort', stop));
  });
}

/** The outcome of a drill whose fault never happened: nothing can be concluded. */
export function notStaged(reason: Reason, { nothingToBreak = false } = {}): Judgement {
  return { verdict: 'unknown', says: [reason], figures: {}, evidence: [], nothingToBreak };
}

export interface Attempt {
  outcome: DrillOutcome;
  /** The longest time in which nothing ran, in milliseconds. */
  standstillMs: number;
}

export interface Limits {
  /** After a standstill as long as this any verdict may be wrong, in milliseconds. */
  wrongMs: number;
  /** One as long as this may be why a fault could not be staged, in milliseconds. */
  hinderingMs: number;
  /** How often the drill is played at most; 4 times when it is not given. */
  tries?: number | undefined;
  narrate: Narrate;
}

/**
 * Resolves with the first outcome that says something: the fault was staged, and the machine did not spoil it. When there is none the
 * verdict is `unknown`. A lock that never takes the step that is broken is not played again.
 */
export async function playAgain(attempt: () => Promise<Attempt>, limits: Limits): Promise<DrillOutcome> {
  const { wrongMs, hinderingMs, tries = TRIES, narrate } = limits;
  for (let tried = 1; ; tried += 1) {
    const { outcome, standstillMs } = await attempt();
    const isUnknown = outcome.verdict === 'unknown' && !outcome.nothingToBreak;
    const isSpoilt = standstillMs >= (isUnknown ? hinderingMs : wrongMs);
    if (!isUnknown && !isSpoilt) return outcome;
    const busy = new ReasonedError(because('machine too busy', { ms: standstillMs }));
    const again = isUnknown
      ? told('run again', { why: outcome.says ?? [] })
      : told('run again on a busy machine', { ms: standstillMs });
    if (tried < tries) await narrate(again, 0, false);
    else if (isUnknown) return { ...outcome, isSpoilt: isSpoilt || outcome.isSpoilt === true };
    else return { ...outcome, ...lostTrack(busy), figures: {}, events: outcome.events, isSpoilt };
  }
}
