// What the terminal shows: the exercise with its verdict, the list, the keys, the solution.

import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import { coloured } from '../../scripts/diff.ts';
import { projectDir } from '../../scripts/stack/parts.ts';
import { ANSWER_KEYS, type Exercise } from './exercise.ts';
import { fill, foldCode, hang, inColumns, markdownLines, wrap } from './layout.ts';
import type { Done } from './progress.ts';
import type { RealVerdict } from './real-judge.ts';
import type { SearchVerdict } from './search-judge.ts';
import {
  answerLines,
  isToldBySearch,
  questionLines,
  realLines,
  type Style,
  typeErrorLines,
  verdictLines,
} from './verdict-lines.ts';

export interface Shown {
  exercise: Exercise;
  /** Its place in its track, from 1, and how many there are in it. */
  place: number;
  placeCount: number;
  done: Done;
  verdict: SearchVerdict | undefined;
  real: RealVerdict[] | undefined;
  /** What TypeScript says of the file. */
  typeError?: string;
  /** The file as it is solves the exercise. */
  isSolved: boolean;
  /** It is the first verdict: whether the answer was right, and why. */
  isExplained: boolean;
  /** A hint was asked for after the verdict. What is newest stands last, where a small terminal shows it. */
  isHintNewest: boolean;
  /** When the file was judged last, as a time of day: a second verdict may look like the first. */
  judgedAt?: string;
  /** What is going on, or what somebody should know. */
  notes: string[];
}

export const trackTitles = { build: 'Build it', find: 'Find the bug' } as const;
const fileOf = ({ file }: Exercise) => relative(projectDir, file);

/** The exercise as a whole. Its text is left out when there is a verdict, and not room for both. */
export function exercisePage(shown: Shown, style: Style, rows = Number.POSITIVE_INFINITY): string[] {
  const { exercise, done, verdict, real, notes } = shown;
  const { paint, width } = style;
  const text = markdownLines(exercise.text, width, paint);
  const head = headLines(shown, style);
  const below = [...belowText(shown, style), ...notes.flatMap((note) => ['', ...wrap(note, width)]), ''];
  const keys = keyLines(shown, style);
  const hasRead = done.chosen !== undefined && (verdict !== undefined || real !== undefined);
  // What stands last is seen in a small terminal, too.
  const last = (isLong: boolean) => [...(hasRead ? placeLines(shown, style, isLong) : []), ...keys];
  const isLong = head.length + text.length + below.length + last(true).length + 1 > rows;
  // The heading has an empty line after it, and what stands below the text has one before it.
  return [...(isLong && hasRead ? head.slice(0, -1) : [...head, ...text]), ...below, ...last(isLong)];
}

/** The file to change, and when it was judged. */
function placeLines({ exercise, judgedAt }: Shown, { paint, width }: Style, isTextLeftOut: boolean): string[] {
  const pieces = [
    paint.cyan(fileOf(exercise)),
    ...(judgedAt === undefined ? [] : [paint.dim(`judged at ${judgedAt}`)]),
    ...(isTextLeftOut ? [paint.dim('t shows the text')] : []),
  ];
  return fill(pieces, width, '', paint.dim(' · '));
}

/** The text of the exercise alone: a long verdict has taken its place. */
export function textPage(shown: Shown, style: Style): string[] {
  const { paint, width } = style;
  const text = markdownLines(shown.exercise.text, width, paint);
  return [
    ...headLines(shown, style),
    ...text,
    '',
    paint.cyan(fileOf(shown.exercise)),
    '',
    paint.dim('Any key goes back.'),
  ];
}

function headLines({ exercise, place, placeCount, done, isSolved }: Shown, { paint }: Style): string[] {
  const { name, title, settings } = exercise;
  const solved = isSolved ? paint.green('  ✔ solved') : done.isSolved ? paint.dim('  ✔ solved before') : '';
  return [
    paint.dim(`${trackTitles[settings.track]} · ${place} of ${placeCount} · ${name}`) + solved,
    paint.bold(title),
    '',
  ];
}

function belowText(
  { exercise, done, verdict, real, typeError, isSolved, isExplained, isHintNewest }: Shown,
  style: Style,
): string[] {
  const { paint, width } = style;
  const { chosen, hints } = done;
  const lines: string[] = [''];
  if (chosen === undefined) return [...lines, ...questionLines(exercise, style)];
  const judged = exercise.settings.search ? ', and save it: it is judged at once.' : ', save it, and press r.';
  lines.push(...wrap(`${paint.dim('Change')} ${paint.cyan(fileOf(exercise))}${paint.dim(judged)}`, width));
  if (!done.isAnswered) lines.push(...wrap(paint.dim(saidLine(exercise, chosen)), width));
  const hintLines = exercise.hints
    .slice(0, hints)
    .flatMap((hint, at) => [
      '',
      paint.dim(`Hint ${at + 1} of ${exercise.hints.length}`),
      ...markdownLines(hint, width, paint),
    ]);
  // What is solved needs no hint, until somebody asks for one.
  if (!isHintNewest && !isSolved) lines.push(...hintLines);
  if (exercise.settings.search === undefined && !real && !verdict) lines.push('', 'Real servers judge this exercise.');
  if (verdict) lines.push('', ...verdictLines(exercise, verdict, style));
  if (typeError !== undefined) lines.push('', ...typeErrorLines(typeError, style));
  if (real) lines.push('', paint.dim('On real servers'), ...realLines(real, style));
  if (isExplained) lines.push('', ...answerLines(exercise, chosen, style));
  if (isSolved) lines.push('', ...wrap(`${paint.dim('More:')} ${exercise.settings.more.join(', ')}`, width));
  if (isHintNewest) lines.push(...hintLines);
  return lines;
}

/** That the answer was taken, until a verdict says whether it is right. */
function saidLine(exercise: Exercise, chosen: number): string {
  const said = `You said ${ANSWER_KEYS[chosen]}.`;
  return isToldBySearch(exercise) ? said : `${said} Press r to see whether that is right.`;
}

function keyLines({ done, isSolved }: Shown, { paint, width }: Style): string[] {
  const keys =
    done.chosen === undefined
      ? ['a b c d answer', 'n skip', '← back', 'l list', '? keys', 'q quit']
      : [
          'h hint',
          'r real servers',
          ...(isSolved || done.isSolved ? ['s solution', 'd diff'] : []),
          isSolved || done.isSolved ? 'n next' : 'n skip',
          'b back',
          'l list',
          '? keys',
          'q quit',
        ];
  return fill(keys, width, '', '   ').map((line) => paint.dim(line));
}

/** Where one is: every exercise, a line each, or in columns where there are fewer rows than lines. */
export function listPage(
  exercises: Exercise[],
  here: Exercise,
  isSolved: (name: string) => boolean,
  { paint, width }: Style,
  rows = Number.POSITIVE_INFINITY,
) {
  const lines: string[] = [];
  const isLong = exercises.length + 6 > rows;
  for (const track of ['build', 'find'] as const) {
    const own = exercises.filter(({ settings }) => settings.track === track);
    if (own.length === 0) continue;
    const solved = own.filter(({ name }) => isSolved(name)).length;
    lines.push(paint.bold(`${trackTitles[track]}   ${solved} of ${own.length} solved`));
    const entries = own.map((exercise) => {
      const { name, number, title } = exercise;
      const mark = isSolved(name) ? paint.green('✔') : ' ';
      const line = `${String(number).padStart(2, '0')}  ${title}`;
      return `  ${exercise === here ? '→' : ' '} ${mark} ${exercise === here ? paint.bold(line) : line}`;
    });
    lines.push(...(isLong ? inColumns(entries, width) : entries), '');
  }
  return [...lines, paint.dim('Two digits go to an exercise; any other key goes back.')];
}

const keys: [key: string, does: string][] = [
  ['a b c d', 'answer the question (1 2 3 4 do it as well); after that b and d are the keys below'],
  ['h', 'shows a hint; each press shows one more, three in all'],
  ['r', 'plays the drills of the exercise on real servers; the first time they are started, which takes some seconds'],
  ['t', 'shows the text of the exercise alone'],
  ['l', 'shows the list'],
  ['n or →', 'goes to the next exercise, solved or not'],
  ['b or ←', 'goes back to the one before'],
  ['s', 'shows the solution, when the exercise is solved'],
  ['d', 'shows what differs between your file and the solution, when the exercise is solved'],
  ['q', 'ends the workshop; Ctrl-C does so too'],
];

export function helpPage(exercise: Exercise, { paint, width }: Style): string[] {
  const number = String(exercise.number).padStart(2, '0');
  return [
    paint.bold('Keys'),
    '',
    ...keys.flatMap(([key, does]) => hang(`${paint.bold(key.padEnd(8))} `, does, width)),
    '',
    ...wrap(`Your file back as it was: npm run workshop -- reset ${number}, in another terminal.`, width),
    ...wrap('What a verdict means: docs/workshop.md.', width),
    '',
    paint.dim('Any key goes back.'),
  ];
}

export function solutionPage({ solution }: Exercise, { paint, width }: Style): string[] {
  return [
    paint.bold(relative(projectDir, solution)),
    '',
    ...readFileSync(solution, 'utf8')
      .trimEnd()
      .split('\n')
      .flatMap((line) => foldCode(line, width)),
    '',
    paint.dim('This is our solution; d compares it with your file. Any key goes back.'),
  ];
}

export function diffPage(exercise: Exercise, { paint, width }: Style): string[] {
  const [yours, ours] = [exercise.file, exercise.solution].map((file) => readFileSync(file, 'utf8')) as [
    string,
    string,
  ];
  const names = [fileOf(exercise), relative(projectDir, exercise.solution)] as const;
  if (yours === ours) return [`${names[0]} and ${names[1]} are the same.`, '', paint.dim('Any key goes back.')];
  const diff = createTwoFilesPatch(...names, yours, ours, undefined, undefined, { headerOptions: FILE_HEADERS_ONLY });
  const legend = `${paint.red('− your file')}   ${paint.green('+ our solution')}   ${paint.dim('Any key goes back.')}`;
  const lines = diff
    .trimEnd()
    .split('\n')
    .flatMap((line) => foldCode(line, width));
  return [...coloured(lines.join('\n'), paint).split('\n'), '', legend];
}
