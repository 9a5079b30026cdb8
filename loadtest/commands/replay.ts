// npm start: replays the stages on real servers, tells the story as it goes, and writes the report.

import { loadEnvFile } from '../../services/inventory/env-file.ts';
import { STEP_WORKERS } from '../staircase/plan.ts';
import { createNarrator } from './narrator.ts';
import { readRunOptions } from './options.ts';
import { runCommand } from './run-command.ts';
import { cellsOf, storyOf } from './tracks.ts';

loadEnvFile();
const { track, stages, drills, ...options } = readRunOptions(
  'npm start',
  'Replays the lock stages on real servers, tells their story, and writes a report.',
  process.argv,
  process.env['LOCK_VERSION'],
);

const cells = drills ? cellsOf(track, stages, drills) : storyOf(track, stages);
await runCommand({
  ...options,
  command: 'npm start',
  cells,
  // Stacks that share one Redis would share the stock and the lock.
  workers: options.running || process.env['REDIS_URL'] ? 1 : STEP_WORKERS,
  isStory: true,
  narrator: createNarrator(process.stdout, cells, { isStory: true }),
});
