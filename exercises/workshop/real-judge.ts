// What judges an exercise on real servers, whatever kind of exercise it is.

import type { Exercise } from './exercise.ts';

/** What a drill said. */
export interface RealVerdict {
  drill: string;
  verdict: 'pass' | 'fail' | 'unknown' | 'not-applicable';
  /** Why, in sentences. */
  reason: string;
  /** The sales that met, or were lost: a clause for each. */
  witnesses: string[];
}

export interface RealRun {
  /** The file to judge: that of the exercise, or its solution. The absolute path. */
  file: string;
  signal: AbortSignal;
  /** Called when a drill begins. */
  onDrill(drill: string): void;
  /** Called when a drill has ended. */
  onVerdict(verdict: RealVerdict): void;
  /** Called with each thing that a drill does, as a sentence, and when, in milliseconds from its beginning. */
  narrate(sentence: string, atMs: number): void;
}

/** Real servers that stay warm from one run to the next. */
export interface RealJudge {
  /** Starts the servers of this exercise when they are not there yet. */
  warmUp(exercise: Exercise): Promise<void>;
  /** Plays the drills of the exercise, one after the other, until one does not hold. Rejects when the servers can't be started. */
  run(exercise: Exercise, options: RealRun): Promise<RealVerdict[]>;
  /** Why the file of the exercise can't be judged as it is, as a sentence, where no search says it. No server is started for it. */
  whyNotLoaded(exercise: Exercise): Promise<string | undefined>;
  /** Ends the servers. */
  close(): Promise<void>;
}
