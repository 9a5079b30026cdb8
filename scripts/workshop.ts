// npm run workshop: exercises in one's own editor, judged on every save; the page of `npm run page` has them, too.

import { once } from 'node:events';
import { unwatchFile, watchFile } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import pc from 'picocolors';
import { speak } from '../loadtest/narration/language.ts';
import { either } from '../loadtest/narration/spoken.ts';
import { padded } from '../loadtest/report/terminal.ts';
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
import { asJson, type Judged, judge, linesOf, taskSaid } from '../workshop/exercises/judge.ts';
import { type Given, newCommand, refuseName } from './command-line/command.ts';
import { COULD_NOT_RUN, endWith, stopOnSignal } from './command-line/ending.ts';
import { languageOf } from './command-line/language.ts';

const ALL_SOLVED = 0;
const NOT_ALL_SOLVED = 1;
/** How often the file is looked at, in milliseconds: that works on every file system, and for a file that an editor replaces. */
const LOOK_MS = 200;

loadEnvFile();
const stopping = stopOnSignal(new Error('it was interrupted'));
const { signal } = stopping;
/** Exercises of another place: tests have their own. */
const folder = process.env['WORKSHOP_EXERCISES'] || exercisesDir;
const print = (lines: string[]) => process.stdout.write(`${lines.join('\n')}\n`);

const program = newCommand('workshop', ['lang'])
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
program.hook('preAction', () => speak(languageOf(program.opts<Pick<Given, 'lang'>>(), program)));
await program.parseAsync();

function finish(run: () => Promise<number>) {
  return endWith('The workshop stopped', run);
}

/** Prints an exercise, and judges its file now and at each save, until it is interrupted. */
async function watch(wanted: string): Promise<number> {
  const [exercise] = among([wanted]) as [Exercise];
  const { file, original, solution } = exercise;
  const { title, text } = taskSaid(exercise);
  provideFile(exercise);
  const own = relative(namedFrom, file);
  const places = Object.entries({
    [either('Your file:', '你的文件：')]: own,
    [either('Hints:', '提示：')]: relative(namedFrom, hintsOf(original)),
    [either('The solution:', '答案：')]: relative(namedFrom, solution),
  });
  print([pc.bold(title), '', text, '', ...places.map(([name, path]) => padded(name, 14) + path), '']);
  const watching = either(
    `Watching ${own}: each save is judged. Press Ctrl-C to stop.`,
    `正在监视 ${own}：每次保存都会检验。按 Ctrl-C 结束。`,
  );
  const watcher = watchFile(file, { interval: LOOK_MS }, () => {});
  try {
    while (true) {
      const saved = once(watcher, 'change', { signal });
      saved.catch(() => {});
      print([...linesOf(await judge(exercise, signal)), watching]);
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

/** The folder, or in Chinese the file that has the hints. */
function hintsOf(original: string): string {
  return join(dirname(original), either('', 'zh-CN.md'));
}

async function check(wanted: string[], json: boolean): Promise<number> {
  const judged: Judged[] = [];
  for (const exercise of among(wanted)) {
    const one = await judge(exercise, signal);
    judged.push(one);
    if (!json) print(linesOf(one));
  }
  const solved = judged.filter(({ isSolved }) => isSolved).length;
  const solvedSaid = either(`${solved} of ${judged.length} solved.`, `${judged.length} 道练习，解决了 ${solved} 道。`);
  print(json ? [JSON.stringify(asJson(judged), undefined, 2)] : [solvedSaid]);
  if (solved === judged.length) return ALL_SOLVED;
  return judged.some(({ isBroken }) => isBroken) ? NOT_ALL_SOLVED : COULD_NOT_RUN;
}

function putAllBack(wanted: string[]): number {
  for (const exercise of among(wanted)) {
    putBack(exercise);
    const path = relative(namedFrom, exercise.file);
    print([either(`${path} is as it was.`, `${path} 已恢复原样。`)]);
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
  const all = exercises.map((each) => `\n${String(each.number).padStart(4)}  ${taskSaid(each).title}`);
  for (const word of wanted)
    if (!exercises.some(isMeant(word)))
      refuseName(program, `there is no exercise ${word}`, word, names, `one of${all.join('')}`);
  return exercises.filter((each) => wanted.length === 0 || wanted.some((word) => isMeant(word)(each)));
}
