// npm run workshop: exercises, judged on every save.

import pc from 'picocolors';
import { newCommand } from '../../loadtest/commands/command-line.ts';
import { COULD_NOT_RUN, exitWhenWritten, runToEnd, stopOnSignal } from '../../loadtest/commands/ending.ts';
import { loadEnvFile } from '../../services/inventory/env-file.ts';
import { asJson, checkAll, checkedLines } from './check.ts';
import { type Exercise, exercisesDir, provideFile, readExercises } from './exercise.ts';
import { widthOf } from './layout.ts';
import { openProgress, progressFile } from './progress.ts';
import { reset } from './reset.ts';
import { openSearchJudge } from './search-judge.ts';
import { openServers } from './servers.ts';
import { runSession } from './session.ts';
import { stateFile } from './state.ts';
import { typeErrors } from './type-errors.ts';

const ALL_SOLVED = 0;
const NOT_ALL_SOLVED = 1;

loadEnvFile();
const stopping = new AbortController();
stopOnSignal(stopping, new Error('stopped before the end'));
const paint = pc.createColors(pc.isColorSupported && process.stdout.isTTY === true);
/** Exercises, progress and state of another place: tests have their own. */
const folder = process.env['WORKSHOP_EXERCISES'] || exercisesDir;
const progressOf = () => openProgress(process.env['WORKSHOP_PROGRESS'] || progressFile);

const program = newCommand('npm run workshop', 'Locks with a hole: predict, change the file, and see each save judged.')
  .argument('[exercise]', 'the exercise to begin with, by number or name, such as 5 or 05-owner-check')
  .addHelpText(
    'after',
    `
check takes --drills, which plays the drills on real servers as well, and --json, which prints JSON and nothing else.
npm prints two lines of its own before it. To leave them out: npm run --silent workshop -- check --json`,
  )
  .action((exercise?: string) => finish(() => attend(exercise)));
program
  .command('check')
  .description(
    'judges the files as they are: ends with 0 when all are solved, with 1 when not, with 2 when it could not',
  )
  .argument('[exercises...]', 'some of them, by number or name; all when none is given')
  .option('--drills', 'plays the drills on real servers, too, and not only where the search cannot tell', false)
  .option('--json', 'prints JSON and nothing else', false)
  .action((exercises: string[], options: { drills: boolean; json: boolean }) =>
    finish(() => check(exercises, options)),
  );
program
  .command('reset')
  .description('puts the files of exercises back as they were')
  .showHelpAfterError('For example, to begin exercise 4 anew: npm run workshop -- reset 04')
  .argument('<exercises...>', 'by number or name')
  .action((exercises: string[]) => finish(async () => putBack(exercises)));
await program.parseAsync();

async function finish(run: () => Promise<number>) {
  process.exitCode = await runToEnd('The workshop could not go on', run);
  await exitWhenWritten();
}

async function attend(wanted: string | undefined): Promise<number> {
  const exercises = readExercises(folder);
  exercises.forEach(provideFile);
  const [named] = wanted === undefined ? [] : among(exercises, [wanted]);
  if (process.stdin.isTTY !== true || process.stdout.isTTY !== true) {
    process.stderr.write('The workshop needs a terminal. Without one, judge the files: npm run workshop -- check\n');
    return COULD_NOT_RUN;
  }
  const progress = progressOf();
  const search = openSearchJudge();
  const servers = openServers(() => {});
  const first = named ?? exercises.find(({ name }) => name === progress.at()) ?? (exercises[0] as Exercise);
  try {
    await runSession({
      exercises,
      first,
      progress,
      search,
      serversOf: servers.of,
      input: process.stdin,
      output: process.stdout,
      paint,
      typeErrors,
      notes: progress.problem === undefined ? [] : [progress.problem],
      state: process.env['WORKSHOP_STATE'] || stateFile,
      signal: stopping.signal,
    });
  } finally {
    search.close();
    process.stdout.write('The servers end …\r');
    await servers.close();
  }
  const solved = exercises.filter(({ name }) => progress.of(name).isSolved).length;
  process.stdout.write(`${solved} of ${exercises.length} exercises solved. Go on with: npm run workshop\n`);
  return ALL_SOLVED;
}

async function check(wanted: string[], { drills, json }: { drills: boolean; json: boolean }): Promise<number> {
  const exercises = readExercises(folder);
  exercises.forEach(provideFile);
  const chosen = wanted.length === 0 ? exercises : among(exercises, wanted);
  const search = openSearchJudge();
  const servers = openServers(() => {});
  const style = { paint, width: widthOf(process.stdout.columns) };
  try {
    const checked = await checkAll(chosen, {
      search,
      serversOf: servers.of,
      hasDrills: drills,
      typeErrors,
      signal: stopping.signal,
      onChecked: (one) => json || process.stdout.write(`${checkedLines(one, style).join('\n')}\n`),
    });
    const solved = checked.filter(({ isSolved }) => isSolved).length;
    if (json) process.stdout.write(`${JSON.stringify(asJson(checked), undefined, 2)}\n`);
    else process.stdout.write(`\n${solved} of ${checked.length} solved.\n`);
    return solved === checked.length ? ALL_SOLVED : NOT_ALL_SOLVED;
  } finally {
    search.close();
    await servers.close();
  }
}

function putBack(wanted: string[]): number {
  const progress = progressOf();
  const chosen = among(readExercises(folder), wanted);
  for (const exercise of chosen) process.stdout.write(`${reset(exercise, progress)}\n`);
  return ALL_SOLVED;
}

/** The exercises of these numbers or names, in the order of the list. Throws for one that does not exist. */
function among(exercises: Exercise[], wanted: string[]): Exercise[] {
  const found = wanted.map((word) => {
    const exercise = exercises.find(
      ({ name, number }) => word === name || (/^\d+$/.test(word) && Number(word) === number),
    );
    if (exercise === undefined) throw new Error(`there is no exercise ${word}. l in npm run workshop lists them.`);
    return exercise;
  });
  return exercises.filter((exercise) => found.includes(exercise));
}
