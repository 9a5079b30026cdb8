// npm run workshop: exercises in one's own editor, judged on every save; the page of `npm run page` has them, too.

import { once } from 'node:events';
import { unwatchFile, watchFile } from 'node:fs';
import { dirname, relative } from 'node:path';
import pc from 'picocolors';
import { loadEnvFile } from '../services/inventory/settings/env-file.ts';
import { callOf } from '../stack/call-of.ts';
import {
  type Exercise,
  exercisesDir,
  namedFrom,
  provideFile,
  putBack,
  readExercises,
} from '../workshop/exercises/exercise.ts';
import { asJson, type Judged, judge, linesOf } from '../workshop/exercises/judge.ts';
import { newCommand, refuseName } from './command-line/command.ts';
import { COULD_NOT_RUN, endWith, stopOnSignal } from './command-line/ending.ts';

const ALL_SOLVED = 0;
const NOT_ALL_SOLVED = 1;
/** How often the file is looked at, in milliseconds: that works on every file system, and for a file that an editor replaces. */
const LOOK_MS = 200;

loadEnvFile();
const stopping = stopOnSignal(new Error('stopped before the end'));
const { signal } = stopping;
/** Exercises of another place: tests have their own. */
const folder = process.env['WORKSHOP_EXERCISES'] || exercisesDir;
const print = (lines: string[]) => process.stdout.write(`${lines.join('\n')}\n`);

const program = newCommand('workshop')
  .argument('[exercise]', 'by number or name, such as 5 or 05-owner-check', '01')
  .addHelpText(
    'after',
    `
npm prints two lines before the JSON. To suppress them: npm run --silent workshop -- check --json`,
  )
  .action((exercise: string) => finish(() => watch(exercise)));
program
  .command('check')
  .description('check the files once: exit code 0 if all are solved, 1 if not, 2 if they could not be checked')
  .argument('[exercises...]', 'exercises by number or name (default: all)')
  .option('--json', 'print the results as JSON and nothing else', false)
  .action((exercises: string[], { json }: { json: boolean }) => finish(() => check(exercises, json)));
program
  .command('reset')
  .description('restore the original files of exercises')
  .showHelpAfterError(`For example, to restart exercise 4: ${callOf('workshop', 'reset 04')}`)
  .argument('<exercises...>', 'by number or name')
  .action((exercises: string[]) => finish(async () => putAllBack(exercises)));
await program.parseAsync();

function finish(run: () => Promise<number>) {
  return endWith('The workshop could not go on', run);
}

/** Shows an exercise, and judges its file now and at each save, until it is interrupted. */
async function watch(wanted: string): Promise<number> {
  const [exercise] = among([wanted]) as [Exercise];
  const { title, text, file, original, solution } = exercise;
  provideFile(exercise);
  const [own, hints, answer] = [file, dirname(original), solution].map((path) => relative(namedFrom, path));
  print([
    pc.bold(title),
    '',
    text,
    '',
    `Your file:    ${own}`,
    `Hints:        ${hints}`,
    `The solution: ${answer}`,
    '',
  ]);
  const watcher = watchFile(file, { interval: LOOK_MS }, () => {});
  try {
    while (true) {
      const saved = once(watcher, 'change', { signal });
      saved.catch(() => {});
      print([...linesOf(await judge(exercise, signal)), `Watching ${own}: each save is judged. Ctrl-C ends this.`]);
      await saved;
    }
  } catch (error) {
    // That is how it ends.
    if (signal.aborted) return ALL_SOLVED;
    throw error;
  } finally {
    unwatchFile(file);
  }
}

async function check(wanted: string[], json: boolean): Promise<number> {
  const judged: Judged[] = [];
  for (const exercise of among(wanted)) {
    const one = await judge(exercise, signal);
    judged.push(one);
    if (!json) print(linesOf(one));
  }
  const solved = judged.filter(({ isSolved }) => isSolved).length;
  print(json ? [JSON.stringify(asJson(judged), undefined, 2)] : [`${solved} of ${judged.length} solved.`]);
  if (solved === judged.length) return ALL_SOLVED;
  return judged.some(({ isBroken }) => isBroken) ? NOT_ALL_SOLVED : COULD_NOT_RUN;
}

function putAllBack(wanted: string[]): number {
  for (const exercise of among(wanted)) {
    putBack(exercise);
    print([`${relative(namedFrom, exercise.file)} is as it was.`]);
  }
  return ALL_SOLVED;
}

/**
 * The exercises of these numbers or names, in the order of the list; all when none is wanted. Throws for one that does not
 * exist.
 */
function among(wanted: string[]): Exercise[] {
  const exercises = readExercises(folder);
  const isMeant = (word: string) => (each: Exercise) => word === each.name || Number(word) === each.number;
  const names = [...exercises.map(({ name }) => name), ...program.commands.map((each) => each.name())];
  const all = exercises.map(({ number, title }) => `\n${String(number).padStart(4)}  ${title}`);
  for (const word of wanted)
    if (!exercises.some(isMeant(word)))
      refuseName(program, `there is no exercise ${word}`, word, names, `one of${all.join('')}`);
  return exercises.filter((each) => wanted.length === 0 || wanted.some((word) => isMeant(word)(each)));
}
