// npm run workshop -- reset: puts the file of an exercise back as it was, and forgets what was done.

import { copyFileSync, mkdirSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { projectDir } from '../../scripts/stack/parts.ts';
import type { Exercise } from './exercise.ts';
import type { Progress } from './progress.ts';

/** Returns a sentence that says what was done. */
export function reset({ name, file, original }: Exercise, progress: Progress): string {
  // A workshop in another terminal sees the file change, and asks then what was done.
  progress.forget(name);
  mkdirSync(dirname(file), { recursive: true });
  copyFileSync(original, file);
  return `${relative(projectDir, file)} is as it was, and the exercise begins anew.`;
}
