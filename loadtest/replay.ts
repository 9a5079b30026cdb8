// npm start: replays the stages on real servers, tells the story as it goes, and writes the report.

import dotenv from 'dotenv';
import { drills as allDrills } from './drills/index.ts';
import { createStoryNarrator } from './narrator.ts';
import { readRunOptions } from './options.ts';
import { allCells, storyCells } from './plan.ts';
import { runCommand } from './run-command.ts';

dotenv.config({ quiet: true });
const { stages, drills, ...options } = readRunOptions(
  'npm start',
  'Replays the lock stages on real servers, tells their story, and writes a report.',
  process.argv,
  process.env['LOCK_VERSION'],
);

await runCommand({
  ...options,
  command: 'npm start',
  cells: drills ? allCells(stages, drills) : storyCells(stages, allDrills),
  workers: 1,
  narrator: createStoryNarrator(process.stdout),
});
