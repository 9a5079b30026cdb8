// What the page shows of a workshop that runs on this machine: one definition, for server and page.

import type { Verdict } from '../loadtest/evidence/results.ts';

/** What came of the last save: in the search, or in a drill on real servers. */
export interface WorkshopVerdict {
  /** The drill; null for the search. */
  drill: string | null;
  /** `broken`: the file can't be judged as it is. */
  verdict: Verdict | 'broken';
  reason: string;
}

/** A step of the counterexample. Times are those of the search's clock, in milliseconds. */
export interface WorkshopStep {
  at: number;
  /** `A`, `B`, …; `the server`. */
  process: string;
  what: string;
  /** What came of it: `is inside`. */
  came?: string | undefined;
  /** It happened so many times more, until this time. */
  again?: { times: number; until: number } | undefined;
}

export interface WorkshopView {
  number: number;
  title: string;
  question: string;
  answers: string[];
  /** The place of the answer that was given. Null as long as none was: nothing else is told until then. */
  chosen: number | null;
  /** The place of the right answer. Null until the workshop has shown it. */
  right: number | null;
  /** `to run`: no order of events breaks it, and that does not tell: real servers do. */
  is: 'asked' | 'judging' | 'running' | 'not judged' | 'to run' | 'not solved' | 'solved';
  /** None while the file is judged anew. */
  verdicts: WorkshopVerdict[];
  /** The shortest order of events that breaks the lock. */
  counterexample: { scope: string; steps: WorkshopStep[] } | null;
}
