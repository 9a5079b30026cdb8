// What npm start and npm run staircase do: cells of a track, told as a story or line by line.

import { loadEnvFile } from '../../services/inventory/env-file.ts';
import { createNarrator } from './narrator.ts';
import { readRunOptions } from './options.ts';
import { runCommand } from './run-command.ts';
import { cellsOf, storyOf } from './tracks.ts';

/** Reads the command line, runs the cells, and sets the exit code. A story is limited to the stage that LOCK_VERSION names. */
export async function runTrack(command: string, description: string, { isStory }: { isStory: boolean }) {
  loadEnvFile();
  const version = isStory ? process.env['LOCK_VERSION'] : undefined;
  const { track, stages, drills, ...options } = readRunOptions(command, description, process.argv, version);
  const cells = isStory && !drills ? storyOf(track, stages) : cellsOf(track, stages, drills);
  const narrator = createNarrator(process.stdout, cells, { isStory });
  await runCommand({ ...options, command, cells, isStory, narrator });
}
