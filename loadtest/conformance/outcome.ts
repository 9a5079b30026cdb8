// The story of a staging, the ends of its calls, and the outcome of a check.

import type { Schedule } from '../../simulation/schedule.ts';
import { type DrillOutcome, lostTrack } from '../harness/drill.ts';
import { asClause, formatSeconds } from '../narration/numbers.ts';
import { because, explained } from '../narration/reasons.ts';

/** How many pieces of evidence an outcome names. */
const MOST_EVIDENCE = 12;

export type Figures = Record<string, number>;

/** The lock failed. The message is a sentence. */
export class Fault extends Error {
  readonly figures: Figures | undefined;
  /** The steps that led there. */
  steps: string[] = [];

  constructor(reason: string, figures?: Figures) {
    super(reason);
    this.figures = figures;
  }
}

/** It is not a lock at all, so the other checks are skipped. */
export class NoLock extends Fault {}

export function holds(reason: string, figures?: Figures): DrillOutcome {
  return outcome('pass', reason, [], figures);
}

export function fails({ message, steps, figures }: Fault): DrillOutcome {
  return outcome('fail', message, steps, figures);
}

/** The outcome of a check that has thrown. */
export const outcomeOf = (error: unknown) => (error instanceof Fault ? fails(error) : lostTrack(error));

export function doesNotApply(reason: string, figures?: Figures): DrillOutcome {
  return outcome('not-applicable', reason, [], figures);
}

function outcome(verdict: DrillOutcome['verdict'], reason: string, evidence: string[], figures?: Figures) {
  return {
    verdict,
    ...explained([because('text', { text: reason })]),
    ...(figures && { figures }),
    evidence: evidence.slice(0, MOST_EVIDENCE),
    evidenceCount: evidence.length,
    events: [],
  } satisfies DrillOutcome;
}

/** The sentence for a lock that has used something that the simulation lacks, such as `worker_threads.Worker()`. */
export const lacksIt = (what: string) => `It uses ${what}, which the simulation does not have.`;

/** How a call ended within a time: it succeeded, it rejected, or it is still pending. */
export type End =
  | { how: 'done'; ms: number }
  | { how: 'rejected'; ms: number; error: Error & { code?: unknown } }
  | { how: 'pending' };

/** An end as a clause about the call. */
export function saidOf(end: End): string {
  if (end.how === 'done') return 'resolved';
  return end.how === 'pending'
    ? 'did not settle'
    : `rejected with ${end.error.code ?? end.error.name}: ${asClause(end.error.message)}`;
}

export const isNotHeld = (end: End) => end.how === 'rejected' && end.error.code === 'LOCK_NOT_HELD';

/** How long a step that does not wait may take, in milliseconds. */
export const STEP_LIMIT_MS = 3_000;

export type Story = ReturnType<typeof createStory>;

export function createStory(schedule: Schedule) {
  const steps: string[] = [];
  let lastPlanned = 0;
  function after(ms: number, run: () => void) {
    lastPlanned = Math.max(lastPlanned, schedule.later(ms));
    schedule.after(ms, run);
  }

  const say = (sentence: string) => void steps.push(`${formatSeconds(schedule.now())} ${sentence}`);

  /** How a call ends within so many milliseconds. */
  function endOf(call: Promise<unknown>, limitMs: number): Promise<End> {
    const startedAt = schedule.now();
    const ms = () => schedule.now() - startedAt;
    return new Promise((resolve) => {
      call.then(
        () => resolve({ how: 'done', ms: ms() }),
        (error) => resolve({ how: 'rejected', ms: ms(), error }),
      );
      after(limitMs, () => resolve({ how: 'pending' }));
    });
  }

  return {
    /** What happened, with the time since the start: the evidence of the outcome. */
    steps,
    say,
    now: schedule.now,
    /** Until when something was planned so far. */
    lastPlanned: () => lastPlanned,
    pass: (ms: number) => new Promise<void>((resolve) => after(ms, resolve)),
    endOf,
    /** How a call ends within so many milliseconds: said as what it is. */
    async ends(what: string, call: Promise<unknown>, limitMs = STEP_LIMIT_MS): Promise<End> {
      const end = await endOf(call, limitMs);
      say(`${what} ${saidOf(end)}`);
      return end;
    },
  };
}
