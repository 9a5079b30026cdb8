// Where code is evaluated in the virtual world, and what comes of that.

import type { World } from './world.ts';

export interface Place {
  /** The process: no other has its name. */
  name: string;
  world: World;
  globals: Record<string, unknown>;
  /** What node:net exports there. */
  net: Record<string, unknown>;
  /** How long its clients wait for an answer, in milliseconds. */
  answerLimitMs?: number | undefined;
}

export interface Started<Run> {
  service: Run;
  /** What it has used that the virtual world does not have, such as `worker_threads.Worker()`. */
  lacking?: () => string | undefined;
}
