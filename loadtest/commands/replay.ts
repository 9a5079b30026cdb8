// npm start: replays the stages on real servers, tells the story as it goes, and writes the report.

import dotenv from 'dotenv';
import { createStoryNarrator } from './narrator.ts';
import { readRunOptions } from './options.ts';
import { runCommand } from './run-command.ts';
import { cellsOf, storyOf } from './tracks.ts';

dotenv.config({ quiet: true });
const { track, stages, drills, ...options } = readRunOptions(
  'npm start',
  'Replays the lock stages on real servers, tells their story, and writes a report.',
  process.argv,
  process.env['LOCK_VERSION'],
);

await runCommand({
  ...options,
  command: 'npm start',
  cells: drills ? cellsOf(track, stages, drills) : storyOf(track, stages),
  workers: 1,
  narrator: createStoryNarrator(process.stdout),
});
