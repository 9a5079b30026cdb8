// What comes of a check, and of a call that it makes.

import type { DrillOutcome } from '../../harness/drill.ts';
import { CallError, NodeBroken } from './lock-node.ts';

/** How many witnesses an outcome names. */
const MAX_WITNESSES = 12;

export type Figures = Record<string, number>;

export function holds(reason: string, figures?: Figures): DrillOutcome {
  return outcome('pass', reason, [], figures);
}

/** `witnesses` are the steps that led there. */
export function fails(reason: string, witnesses: string[] = [], figures?: Figures): DrillOutcome {
  return outcome('fail', reason, witnesses, figures);
}

export function doesNotApply(reason: string, figures?: Figures): DrillOutcome {
  return outcome('not-applicable', reason, [], figures);
}

function outcome(verdict: DrillOutcome['verdict'], reason: string, witnesses: string[], figures?: Figures) {
  return {
    verdict,
    reasons: [reason],
    ...(figures && { figures }),
    witnesses: witnesses.slice(0, MAX_WITNESSES),
    witnessCount: witnesses.length,
    stockOverTime: [],
    events: [],
  } satisfies DrillOutcome;
}

/** How a call ended within a time: it did its work, it rejected, or it is still pending. */
export type End = { how: 'done'; ms: number } | { how: 'rejected'; ms: number; error: CallError } | { how: 'pending' };

/** Resolves with how the call ended within `limitMs` milliseconds. Rejects with NodeBroken alone. */
export async function endOf(call: Promise<unknown>, limitMs: number): Promise<End> {
  const startedAt = performance.now();
  const ms = () => performance.now() - startedAt;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<End>((resolve) => {
    timer = setTimeout(resolve, limitMs, { how: 'pending' });
  });
  const ended = call.then(
    (): End => ({ how: 'done', ms: ms() }),
    (error): End => {
      if (!(error instanceof CallError)) throw error;
      return { how: 'rejected', ms: ms(), error };
    },
  );
  return Promise.race([ended, late]).finally(() => clearTimeout(timer));
}

/** What an end was, as a clause about the call. */
export function saidOf(end: End): string {
  if (end.how === 'done') return 'resolved';
  return end.how === 'pending'
    ? 'did not settle'
    : `rejected with ${end.error.code ?? end.error.name}: ${end.error.message}`;
}

export const isNotHeld = (end: End) => end.how === 'rejected' && end.error.code === 'LOCK_NOT_HELD';

export { NodeBroken };
