// npm run workshop: exercises in one's own editor, judged on every save; the page of `npm run page` has them, too.

import { copyFileSync, mkdirSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import pc from 'picocolors';
import { newCommand } from '../../loadtest/commands/command-line.ts';
import { exitWhenWritten, runToEnd, stopOnSignal } from '../../loadtest/commands/ending.ts';
import { projectDir } from '../../scripts/stack/parts.ts';
import { loadEnvFile } from '../../services/inventory/env-file.ts';
import { asJson, type CheckOptions, check, checkAll, checkedLines } from './check.ts';
import { type Exercise, exercisesDir, provideFile, readExercises } from './exercise.ts';
import { inline, widthOf } from './layout.ts';
import { openSearchJudge } from './search-judge.ts';
import { openServers } from './servers.ts';
import { nextSave } from './watch.ts';

const ALL_SOLVED = 0;
const NOT_ALL_SOLVED = 1;

loadEnvFile();
const stopping = new AbortController();
stopOnSignal(stopping, new Error('stopped before the end'));
const paint = pc.createColors(pc.isColorSupported && process.stdout.isTTY === true);
const style = { paint, width: widthOf(process.stdout.columns) };
/** Exercises of another place: tests have their own. */
const folder = process.env['WORKSHOP_EXERCISES'] || exercisesDir;
const print = (lines: string[]) => process.stdout.write(`${lines.join('\n')}\n`);

const program = newCommand(
  'npm run workshop',
  'Locks with a hole: mend the file in your editor, and see each save judged.',
)
  .argument('[exercise]', 'by number or name, such as 5 or 05-owner-check', '01')
  .addHelpText(
    'after',
    `
npm prints two lines of its own before JSON. To leave them out: npm run --silent workshop -- check --json`,
  )
  .action((exercise: string) => finish(() => judging((options) => watch(exercise, options))));
program
  .command('check')
  .description(
    'judges the files as they are: ends with 0 when all are solved, with 1 when not, with 2 when it could not',
  )
  .argument('[exercises...]', 'some of them, by number or name; all when none is given')
  .option('--json', 'prints JSON and nothing else', false)
  .action((exercises: string[], { json }: { json: boolean }) =>
    finish(() => judging((options) => checkFiles(exercises, json, options))),
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

/** Has what judges ready for as long as it is needed. */
async function judging(run: (options: CheckOptions) => Promise<number>): Promise<number> {
  const search = openSearchJudge();
  const servers = openServers(() => {});
  try {
    return await run({ search, serversOf: servers.of, signal: stopping.signal });
  } finally {
    search.close();
    await servers.close();
  }
}

/** Shows an exercise, and judges its file now and at each save, until it is interrupted. */
async function watch(wanted: string, options: CheckOptions): Promise<number> {
  const [exercise] = among(readExercises(folder), [wanted]) as [Exercise];
  const { title, text, file, original } = exercise;
  provideFile(exercise);
  print([paint.bold(title), '', inline(text, paint), '']);
  print([
    `Your file: ${relative(projectDir, file)}. Hints and the solution: ${relative(projectDir, dirname(original))}.`,
    '',
  ]);
  while (!stopping.signal.aborted) {
    const saved = nextSave(file, stopping.signal);
    print(checkedLines(await check(exercise, options), style));
    await saved;
  }
  return ALL_SOLVED;
}

async function checkFiles(wanted: string[], json: boolean, options: CheckOptions): Promise<number> {
  const exercises = readExercises(folder);
  exercises.forEach(provideFile);
  const chosen = wanted.length === 0 ? exercises : among(exercises, wanted);
  const checked = await checkAll(chosen, options, (one) => json || print(checkedLines(one, style)));
  const solved = checked.filter(({ isSolved }) => isSolved).length;
  print(json ? [JSON.stringify(asJson(checked), undefined, 2)] : ['', `${solved} of ${checked.length} solved.`]);
  return solved === checked.length ? ALL_SOLVED : NOT_ALL_SOLVED;
}

function putBack(wanted: string[]): number {
  for (const { file, original } of among(readExercises(folder), wanted)) {
    mkdirSync(dirname(file), { recursive: true });
    copyFileSync(original, file);
    print([`${relative(projectDir, file)} is as it was.`]);
  }
  return ALL_SOLVED;
}

/** The exercises of these numbers or names, in the order of the list. Throws for one that does not exist. */
function among(exercises: Exercise[], wanted: string[]): Exercise[] {
  const found = wanted.map((word) => {
    const exercise = exercises.find(
      ({ name, number }) => word === name || (/^\d+$/.test(word) && Number(word) === number),
    );
    if (exercise === undefined) throw new Error(`there is no exercise ${word}. They are the folders of exercises/.`);
    return exercise;
  });
  return exercises.filter((exercise) => found.includes(exercise));
}
