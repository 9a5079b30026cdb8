// What is shown of a playing: its beats and its result.

import type { Beats } from './beats.ts';

export interface Shown {
  /** The name of its lock's file. */
  stage: string;
  beats: Beats;
  verdict: 'pass' | 'fail' | 'unknown' | 'not-applicable';
  /** The beat in which the lock breaks or is saved, by index. */
  turning?: { at: number; isBad: boolean } | undefined;
  /** Why it could not be staged or played. */
  whyNot?: string | undefined;
}
