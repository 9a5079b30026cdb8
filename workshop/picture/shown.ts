// What is shown of a playing: its beats, and what was found of it.

import type { Beats } from './beats.ts';

export interface Shown {
  /** Its lock: what its file is called. */
  stage: string;
  beats: Beats;
  verdict: 'pass' | 'fail' | 'unknown' | 'not-applicable';
  /** Where it breaks, or is kept from breaking, by the place of the beat. */
  turning?: { at: number; isBad: boolean } | undefined;
  /** Why it could not be staged, or not be played. */
  whyNot?: string | undefined;
}
