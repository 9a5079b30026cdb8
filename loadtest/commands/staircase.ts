// npm run staircase: plays every drill under every stage, in the virtual world or on real servers, and writes the report.

import { loadEnvFile } from '../../services/inventory/env-file.ts';
import { STEP_WORKERS } from '../staircase/plan.ts';
import { createNarrator } from './narrator.ts';
import { readRunOptions } from './options.ts';
import { runCommand } from './run-command.ts';
import { cellsOf } from './tracks.ts';

loadEnvFile();
const { track, stages, drills, ...options } = readRunOptions(
  'npm run staircase',
  'Plays every drill under every stage, and writes a report: the whole staircase. In the virtual world, in seconds, unless --real is given.',
  process.argv,
);
const cells = cellsOf(track, stages, drills);
// Stacks that share one Redis would share the stock and the lock.
const workers = options.running || process.env['REDIS_URL'] ? 1 : STEP_WORKERS;

await runCommand({
  ...options,
  command: 'npm run staircase',
  cells,
  workers,
  narrator: createNarrator(process.stdout, cells, { isStory: false }),
});
