// What npm start and npm run staircase do: run the cells of a track, with explanations or one line per cell.

import { speak } from '../../loadtest/narration/language.ts';
import { createNarrator } from '../../loadtest/run/narrator.ts';
import { cellsOf, storyOf } from '../../loadtest/run/tracks.ts';
import { loadEnvFile } from '../../services/inventory/settings/env-file.ts';
import { runCommand } from './run-command.ts';
import { readRunOptions } from './run-options.ts';

/** Reads the command line, runs the cells, and sets the exit code. `npm start` runs only the stage that LOCK_VERSION names. */
export async function runTrack(command: 'start' | 'staircase') {
  const isStory = command === 'start';
  loadEnvFile();
  const version = isStory ? process.env['LOCK_VERSION'] : undefined;
  const { track, stages, drills, ...options } = readRunOptions(command, process.argv, version);
  speak(options.language);
  const cells = isStory && !drills ? storyOf(track, stages) : cellsOf(track, stages, drills);
  const narrator = createNarrator(process.stdout, cells, { isStory });
  await runCommand({ ...options, command, cells, isStory, narrator });
}
