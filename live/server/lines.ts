// The lines of a scenario that are told to an audience.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectDir } from '../../scripts/stack/parts.ts';

/** None of a load, which has no sentences. */
export function linesOf(scenario: string): string[] {
  const file = join(projectDir, `loadtest/scenarios/${scenario}.txt`);
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.map((line) => line.replace(/^> /, '')).filter(Boolean);
}
