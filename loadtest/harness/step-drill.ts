// A drill that goes step by step: one fault on a test bed, followed to its judgement.

import { ANSWER_LIMIT_MS } from '../../locks/drivers/answer-limit.ts';
import { replicasOf } from '../../locks/index.ts';
import type { Hold } from '../evidence/history.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import { formatDuration } from '../evidence/numbers.ts';
import type { Verdict } from '../evidence/results.ts';
import { backendOfRow, hasNothingToBreak } from '../staircase/lookup.ts';
import { runAgainIfBusy } from './busy-machine.ts';
import { sleep, startTimer, stopTimer, type Timer } from './clock.ts';
import { type Drill, type DrillOutcome, type Narrate, notApplicable } from './drill.ts';
import type { LockTiming } from './lab-client.ts';
import { lackOf, type Need } from './target.ts';
import { openTestBed, type TestBed, type TestBedOptions } from './test-bed.ts';

/** How many witnesses a result names. */
const MAX_WITNESSES = 10;
const STOCK = 100;
/** A standstill that may be why masters did not vote in time, or a replica did not confirm, in milliseconds: they have 50 or more. */
const CONFIRM_STANDSTILL_MS = 25;
/** A standstill of a node and one of its line may add up: two as long as this, in milliseconds, and the node gives its server up. */
const SILENT_MS = ANSWER_LIMIT_MS / 2;
/** How long a drill may go on without a word, in milliseconds: none takes as long for its longest step. */
const SILENCE_LIMIT_MS = 180_000;
/** How long the step that a drill was at may take to end when the drill is stopped, in milliseconds. */
const STOP_LIMIT_MS = 10_000;

/** A drill that goes step by step: it stages one fault, on purpose, and looks what the lock makes of it. */
export interface StepDrill {
  /** A column of the staircase. */
  name: string;
  /** What it takes to stage the fault, besides two nodes. */
  needs?: Need[];
  /** What the drill needs of the lock's timing, in milliseconds, whatever lease was asked for. */
  timing?: LockTiming;
  /** A standstill as long as this may change its verdict, in milliseconds, where less than any other's would. */
  wrongMs?: number;
  /** The units in stock before it. */
  stock?: number;
  run(testBed: TestBed): Promise<Judgement>;
}

export interface Judgement {
  verdict: Exclude<Verdict, 'not-applicable'>;
  reason: string;
  /** What was measured: milliseconds where the name ends in Ms. */
  figures: Record<string, number>;
  witnesses: string[];
  /** Which holders may not meet; all of them when it is not given. Meetings of others are not drawn as faults. */
  isJudged?: (hold: Hold) => boolean;
  /** With `unknown`: the lock never takes the step that the drill breaks. */
  nothingToBreak?: boolean;
  /** With `unknown`: a step came too late, and may come in time when the drill is run again. */
  isLate?: boolean;
}

export interface StepDrillOptions extends Omit<TestBedOptions, 'timing' | 'stock'> {
  leaseMs: number;
  stock?: number;
  /** How often the drill is run at most on a machine that is too busy to tell anything; 4 times when it is not given. */
  tries?: number | undefined;
  /** How long the drill may go on without a word, in milliseconds; 3 min when it is not given. */
  silenceLimitMs?: number;
}

/**
 * Runs a drill, and runs it again when the machine stood still for so long that the verdict may be wrong, or that this may be why
 * the fault could not be staged. What it could not stage is `unknown`, what the target can't carry `not-applicable`. However it
 * ends, the stack is as it was before. Rejects when the drill comes no further, and with the signal's reason when that aborts.
 */
export async function runStepDrill(drill: StepDrill, options: StepDrillOptions): Promise<DrillOutcome> {
  const { target, stage, leaseMs, narrate, signal, tries, silenceLimitMs = SILENCE_LIMIT_MS } = options;
  const lacking = lackOf(target, stage, drill.needs);
  if (lacking !== undefined) return notApplicable(lacking);
  if (hasNothingToBreak(stage, drill.name)) {
    return notApplicable(`Under ${stage} there is nothing that this drill could break.`);
  }
  if (drill.needs?.includes('masters') && backendOfRow(stage) !== 'masters') {
    return notApplicable(`Under ${stage} no masters vote.`);
  }
  if (drill.needs?.includes('clock server') && replicasOf(stage) > 0) {
    return notApplicable('The embedded Valkey, whose clock can be set, has no replica.');
  }
  const timing = { leaseMs, ...drill.timing };
  const isConfirmed = backendOfRow(stage) === 'masters' || replicasOf(stage) > 0;
  return runAgainIfBusy(
    async () => {
      const silence = watchSilence(narrate, silenceLimitMs);
      const testBed = await openTestBed({
        stock: drill.stock ?? STOCK,
        ...options,
        timing,
        narrate: silence.narrate,
      });
      silence.begin();
      let isLate = false;
      const course = drill.run(testBed).catch((error) => {
        if (error instanceof NotStagedError) return notStaged(error.message, error);
        throw error;
      });
      void course.then((judgement) => (isLate = judgement.isLate ?? false)).catch(() => {});
      const stopped = signal ? AbortSignal.any([signal, silence.signal]) : silence.signal;
      const outcome = await play(testBed, course, stopped).finally(silence.end);
      return { outcome, standstillMs: testBed.standstillMs(), isLate };
    },
    {
      wrongMs: Math.min(timing.leaseMs / 4, SILENT_MS, drill.wrongMs ?? SILENT_MS),
      hinderingMs: isConfirmed ? CONFIRM_STANDSTILL_MS : Math.min(timing.leaseMs / 8, SILENT_MS),
      tries,
      narrate,
    },
  );
}

/**
 * Follows the course of a drill to its judgement, and closes its test bed. Rejects as the course does, and with the signal's reason
 * when that aborts first; the test bed is closed all the same. When it can't be, that is what it rejects with.
 */
export async function play(
  testBed: {
    stop(): void;
    close(isJudged?: Judgement['isJudged']): Promise<Pick<DrillOutcome, 'timeline' | 'told' | 'events'>>;
  },
  course: Promise<Judgement>,
  signal?: AbortSignal,
): Promise<DrillOutcome> {
  const judgement = await untilStopped(course, signal).catch(async (error) => {
    if (error instanceof NotStagedError) return notStaged(error.message, error);
    // What it has begun comes to its end before it is undone.
    testBed.stop();
    await Promise.race([course.catch(() => {}), sleep(STOP_LIMIT_MS, undefined, { ref: false })]);
    await testBed.close().catch((left: Error) => {
      const why = error instanceof Error ? error.message : error;
      throw new Error(`${why} And the stack could not be put back: ${left.message}`, { cause: error });
    });
    throw error;
  });
  const { verdict, reason, figures, witnesses, isJudged, nothingToBreak = false } = judgement;
  return {
    verdict,
    reasons: [reason],
    figures,
    witnesses: witnesses.slice(0, MAX_WITNESSES),
    witnessCount: witnesses.length,
    stockOverTime: [],
    nothingToBreak,
    ...(await testBed.close(isJudged)),
  };
}

/** A drill says what it does. What is silent for too long waits for something that never comes: the signal aborts. */
function watchSilence(narrate: Narrate, limitMs: number) {
  const silent = new AbortController();
  const reason = new Error(`The drill came no further: for ${formatDuration(limitMs)} it has said nothing.`);
  let timer: Timer;
  let isOver = false;
  const watch = () => {
    if (!isOver) timer = startTimer(() => silent.abort(reason), limitMs);
  };
  return {
    signal: silent.signal,
    /** The drill begins. What comes before it, to make the nodes ready, has limits of its own. */
    begin: watch,
    end() {
      isOver = true;
      stopTimer(timer);
    },
    /** While somebody reads the sentence, the drill waits for them. */
    narrate: async (...said: Parameters<Narrate>) => {
      stopTimer(timer);
      await narrate(...said);
      watch();
    },
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

/** The drill as one of the staircase's. */
export function asDrill(drill: StepDrill): Drill {
  return {
    name: drill.name,
    kind: 'steps',
    run: ({ settings: { leaseMs, connections }, ...context }) =>
      runStepDrill(drill, { ...context, leaseMs, connections }),
  };
}

/** The fault was never there, so nothing may be concluded. */
export function notStaged(reason: string, { nothingToBreak = false, isLate = false } = {}): Judgement {
  return { verdict: 'unknown', reason, figures: {}, witnesses: [], nothingToBreak, isLate };
}
