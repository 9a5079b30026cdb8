// The workshop on a terminal: shows an exercise, takes the prediction, judges each save, and goes on.

import { existsSync, statSync } from 'node:fs';
import { relative } from 'node:path';
import { projectDir } from '../../scripts/stack/parts.ts';
import type { Exercise } from './exercise.ts';
import { type KeyInput, listenToKeys } from './keys.ts';
import { widthOf } from './layout.ts';
import { diffPage, exercisePage, helpPage, listPage, type Shown, solutionPage, textPage } from './pages.ts';
import type { Progress } from './progress.ts';
import type { RealJudge, RealVerdict } from './real-judge.ts';
import type { SearchJudge, SearchVerdict } from './search-judge.ts';
import { removeState, stateFile, type WorkshopState, writeState } from './state.ts';
import { reasonOf, shownSteps } from './steps.ts';
import type { TypeErrors } from './type-errors.ts';
import { isToldBySearch, type Style } from './verdict-lines.ts';
import { watchForSaves } from './watch.ts';

export interface SessionOptions {
  exercises: Exercise[];
  /** The exercise to begin with. */
  first: Exercise;
  progress: Progress;
  search: SearchJudge;
  /** The real servers of an exercise. They are asked for when they are needed. */
  serversOf(exercise: Exercise): RealJudge;
  input: KeyInput;
  output: {
    write(text: string): unknown;
    columns?: number;
    rows?: number;
    on?(event: 'resize', listener: () => void): unknown;
    off?(event: 'resize', listener: () => void): unknown;
  };
  paint: Style['paint'];
  /** Asks TypeScript, beside each verdict; nobody is asked when it is not given. */
  typeErrors?: TypeErrors;
  /** What to say once, at the beginning. */
  notes?: string[];
  /** Where the state is written for others. */
  state?: string;
  /** The time of day, as verdicts are told by it. */
  clock?: () => Date;
  /** Ends the session. */
  signal: AbortSignal;
}

type Page = 'exercise' | 'text' | 'list' | 'help' | 'solution' | 'diff';

const CLEAR = '\x1b[2J\x1b[H';
/** How often the screen says how long the search has taken, in milliseconds. */
const SECOND_MS = 1_000;
/** How often the files of the other exercises are looked at, in milliseconds. */
const LOOK_AT_OTHERS_MS = 1_000;

/** Resolves when the user, or the signal, has ended it. */
export function runSession(options: SessionOptions): Promise<void> {
  const { exercises, progress, search, serversOf, input, output, paint, state = stateFile, signal } = options;
  const { clock = () => new Date() } = options;
  const now = () => clock().toISOString();
  let exercise = options.first;
  let page: Page = 'exercise';
  let phase: WorkshopState['phase'] = 'open';
  let verdict: (SearchVerdict & { at: string }) | undefined;
  let typeError: string | undefined;
  let judgingSince = 0;
  /** When the files of the exercises had been saved last, as this one came on the screen. */
  let savedBefore = new Map<Exercise, number>();
  let real: { verdicts: RealVerdict[]; at: string } | undefined;
  let isSolved = false;
  let hasSavedMeanwhile = false;
  /** The answer is explained with the first verdict, and not with those after it. */
  let isExplained = false;
  let isHintNewest = false;
  let notes = options.notes ?? [];
  let digits = '';
  let unwatch = () => {};
  let judging = new AbortController();
  const ending = new AbortController();

  return new Promise<void>((resolve) => {
    const unlisten = listenToKeys(input, press);
    const others = exercises.map((each) => watchForSaves(each.file, () => savedElsewhere(each), LOOK_AT_OTHERS_MS));
    const end = () => {
      if (ending.signal.aborted) return;
      ending.abort(new Error('the workshop has ended'));
      judging.abort(ending.signal.reason);
      unlisten();
      output.off?.('resize', redraw);
      unwatch();
      for (const unwatchOther of others) unwatchOther();
      removeState(state);
      resolve();
    };
    const redraw = () => phase === 'running' || draw();
    output.on?.('resize', redraw);
    signal.addEventListener('abort', end);
    ending.signal.addEventListener('abort', () => signal.removeEventListener('abort', end));
    search.makeReady();
    goTo(exercise, notes);
    if (signal.aborted) end();

    function press(key: string) {
      if (key === 'quit' || (key === 'q' && page === 'exercise')) return end();
      if (phase === 'running') return;
      if (page === 'list') return pressInList(key);
      if (page !== 'exercise') return turnTo('exercise');
      const isOpen = progress.of(exercise.name).chosen === undefined;
      const answer = isOpen ? Math.max('abcd'.indexOf(key), '1234'.indexOf(key)) : -1;
      if (answer >= 0 && key.length === 1) return predict(answer);
      if (key === 'n' || key === 'right') return step(1);
      if (key === 'b' || key === 'left') return step(-1);
      if (key === 'l') return turnTo('list');
      if (key === '?') return turnTo('help');
      if (key === 't') return turnTo('text');
      if (isOpen && 'hrsd'.includes(key)) return say('First say what you expect: press a, b, c or d.');
      if (key === 'h') return hint();
      if (key === 'r') return void runOnServers();
      if (key === 's' || key === 'd') return reveal(key === 's' ? 'solution' : 'diff');
    }

    /** What goes wrong in here is no fault of the one who writes the lock; it is said, and the workshop goes on. */
    function fail(error: unknown) {
      if (ending.signal.aborted) return;
      phase = 'judged';
      say(`The workshop could not do that: ${error instanceof Error ? error.message : error}`);
    }

    function pressInList(key: string) {
      digits = /^\d$/.test(key) ? digits + key : '';
      if (digits.length === 1) return;
      const found = exercises.find(({ number }) => digits.length === 2 && number === Number(digits));
      digits = '';
      if (found) goTo(found);
      else turnTo('exercise');
    }

    function step(by: number) {
      const next = exercises[exercises.indexOf(exercise) + by];
      if (next) goTo(next);
      else say(by > 0 ? 'This is the last exercise. l shows all of them.' : 'This is the first exercise.');
    }

    function goTo(next: Exercise, say: string[] = []) {
      judging.abort();
      unwatch();
      exercise = next;
      [page, phase, verdict, real, isSolved, notes] = ['exercise', 'open', undefined, undefined, false, say];
      [isExplained, isHintNewest, typeError] = [false, false, undefined];
      savedBefore = new Map(exercises.map((each) => [each, savedAt(each)]));
      progress.goTo(exercise.name);
      unwatch = watchForSaves(exercise.file, saved);
      draw();
      if (progress.of(exercise.name).chosen !== undefined) void judge();
    }

    function predict(chosen: number) {
      progress.change(exercise.name, { chosen });
      notes = [];
      if (exercise.settings.search === undefined) warmUp();
      void judge();
    }

    /** So that `r` need not wait for the servers to start. What keeps them from it, `r` says. */
    function warmUp() {
      serversOf(exercise)
        .warmUp(exercise)
        .catch(() => {});
    }

    function hint() {
      const { hints } = progress.of(exercise.name);
      isHintNewest = true;
      if (hints === exercise.hints.length) return say('There are no more hints.');
      progress.change(exercise.name, { hints: hints + 1 });
      say();
    }

    function reveal(next: 'solution' | 'diff') {
      if (!isSolved && !progress.of(exercise.name).isSolved)
        return say(`The ${next} is shown when you have solved it. h shows a hint, n goes on without it.`);
      if (next === 'diff' && !existsSync(exercise.file))
        return say(`${relative(projectDir, exercise.file)} is not there.`);
      turnTo(next);
    }

    function saved() {
      if (phase === 'running') {
        hasSavedMeanwhile = true;
        return;
      }
      page = 'exercise';
      const isOpen = progress.of(exercise.name).chosen === undefined;
      // It was reset in another terminal.
      if (isOpen && phase !== 'open') return goTo(exercise, ['The exercise begins anew.']);
      if (isOpen) return say('You have saved it. First say what the file did before: press a, b, c or d.');
      void judge(savedNote());
    }

    const savedNote = () => `You have saved it, at ${timeOf(now())}. Press r: real servers judge it.`;

    /** Somebody has the file of another exercise in the editor than the one on the screen. */
    function savedElsewhere(other: Exercise) {
      if (other === exercise || page !== 'exercise' || phase === 'judging' || phase === 'running') return;
      // It was saved while it was on the screen.
      if (savedAt(other) === savedBefore.get(other)) return;
      const [there, here] = [other, exercise].map(digitsOf);
      say(`The file of exercise ${there} was saved, and exercise ${here} is open. Press l and ${there} to go there.`);
    }

    /**
     * Judges the file as it is by the search, and draws what it says. Where real servers judge alone it only looks whether they could
     * load it; `orElse` is said when they could.
     */
    async function judge(orElse = '') {
      judging.abort();
      const mine = new AbortController();
      judging = mine;
      const judged = exercise;
      [phase, verdict, real, isSolved, typeError] = ['judging', undefined, undefined, false, undefined];
      [isExplained, isHintNewest, judgingSince, notes] = [false, false, performance.now(), []];
      draw();
      void lookAtTypes(judged.file, mine.signal);
      const seconds = setInterval(show, SECOND_MS);
      mine.signal.addEventListener('abort', () => clearInterval(seconds));
      try {
        if (judged.settings.search === undefined) {
          const problem = await serversOf(judged).whyNotLoaded(judged);
          if (mine.signal.aborted) return;
          phase = problem === undefined ? 'open' : 'judged';
          if (problem !== undefined) verdict = { kind: 'broken', sentence: problem, cells: [], at: now() };
          return say(problem === undefined ? orElse : '');
        }
        const found = await search.judge(judged, judged.file, { signal: mine.signal });
        if (mine.signal.aborted) return;
        verdict = { ...found, at: now() };
        phase = 'judged';
        if (isToldBySearch(judged)) {
          if (found.kind === 'fails' || found.kind === 'holds') explain();
          if (found.kind === 'holds') solve();
        }
        draw();
        // Somebody who has solved it wants to see it on real servers next.
        if (found.kind === 'holds' && judged.settings.drills.length > 0) warmUp();
      } catch (error) {
        if (!mine.signal.aborted) fail(error);
      } finally {
        clearInterval(seconds);
      }
    }

    /** It takes longer than the verdict, and changes nothing about it. */
    async function lookAtTypes(file: string, signal: AbortSignal) {
      const found = await options.typeErrors?.([file], signal);
      if (signal.aborted || found?.get(file) === undefined) return;
      typeError = found.get(file);
      redraw();
    }

    function explain() {
      isExplained = !progress.of(exercise.name).isAnswered;
      progress.change(exercise.name, { isAnswered: true });
    }

    function solve() {
      isSolved = true;
      progress.change(exercise.name, { isSolved: true });
    }

    /** Plays the drills, and prints what they do as they go. */
    async function runOnServers() {
      const { drills } = exercise.settings;
      if (drills.length === 0) return say('No drill shows this on real servers: the search alone tells.');
      if (phase === 'judging') return say('Your file is being judged. Press r when that has ended.');
      if (verdict?.kind === 'broken' || !existsSync(exercise.file))
        return say("The file can't be loaded as it is, so real servers can't run it either.");
      [phase, real, hasSavedMeanwhile, isHintNewest] = ['running', undefined, false, false];
      notes = [];
      draw();
      const print = (line: string) => void output.write(`${line}\n`);
      print('');
      print(`On real servers: ${drills.join(', ')}. The servers get ready …`);
      try {
        const verdicts = await serversOf(exercise).run(exercise, {
          file: exercise.file,
          signal: ending.signal,
          onDrill: (drill) => print(`  ${paint.bold(drill)}`),
          onVerdict() {},
          narrate: (sentence, atMs) =>
            print(`  ${paint.dim(`${(atMs / 1_000).toFixed(2).padStart(6)} s`)}  ${sentence}`),
        });
        if (ending.signal.aborted) return;
        phase = 'judged';
        real = { verdicts, at: now() };
        if (!isToldBySearch(exercise)) {
          explain();
          if (verdicts.every(({ verdict }) => verdict === 'pass')) solve();
        }
        notes = [noteOnReal(verdicts)];
        if (hasSavedMeanwhile) await judge(savedNote());
        else draw();
      } catch (error) {
        fail(error);
      }
    }

    function noteOnReal(verdicts: RealVerdict[]): string {
      const is = (...kinds: RealVerdict['verdict'][]) => verdicts.some(({ verdict }) => kinds.includes(verdict));
      const isMeant = verdicts.some(
        ({ drill, verdict }) => verdict === 'fail' && drill === exercise.settings.fails.drill,
      );
      if (is('fail') && isSolved)
        return 'The search holds, and this drill does not: it has seen what the search did not look at.';
      if (is('fail')) return isMeant ? 'This is what the exercise is about. Change the file, and press r again.' : '';
      if (is('unknown'))
        return 'A step of the drill did not happen, so nothing is known. Close other programs, and press r again.';
      if (is('not-applicable')) return "This machine can't play the drill.";
      if (!isToldBySearch(exercise)) return `${paint.green(paint.bold('Solved.'))} n goes to the next exercise.`;
      if (isSolved) return `${paint.green(paint.bold('Solved'))} on real servers, too. n goes to the next exercise.`;
      return verdict?.kind === 'fails'
        ? 'The drills hold, but the search has found what breaks the lock. So the exercise is not solved.'
        : 'The drills hold. The search has not decided yet, so the exercise is not solved. Save the file again.';
    }

    function turnTo(next: Page) {
      page = next;
      draw();
    }

    function say(...sentences: string[]) {
      notes = sentences;
      draw();
    }

    function draw() {
      if (ending.signal.aborted) return;
      writeState(stateNow(), state);
      show();
    }

    function show() {
      if (ending.signal.aborted) return;
      const style = { paint, width: widthOf(output.columns) };
      output.write(`${CLEAR}${linesOf(style).join('\n')}\n`);
    }

    function linesOf(style: Style): string[] {
      if (page === 'list')
        return listPage(exercises, exercise, (name) => progress.of(name).isSolved, style, output.rows);
      if (page === 'help') return helpPage(exercise, style);
      if (page === 'solution') return solutionPage(exercise, style);
      if (page === 'diff') return diffPage(exercise, style);
      const shown = { ...shownNow(), notes: [...notes, ...goingOn().map(paint.dim)].filter(Boolean) };
      return page === 'text' ? textPage(shown, style) : exercisePage(shown, style, output.rows);
    }

    function goingOn(): string[] {
      if (phase !== 'judging') return [];
      if (exercise.settings.search === undefined) return ['Your file is being loaded …'];
      const seconds = Math.floor((performance.now() - judgingSince) / SECOND_MS);
      return [`The search looks at every order of events …${seconds > 0 ? ` ${seconds} s` : ''}`];
    }

    function shownNow(): Shown {
      const own = exercises.filter(({ settings }) => settings.track === exercise.settings.track);
      const done = progress.of(exercise.name);
      const judgedAt = real?.at ?? verdict?.at;
      const place = own.indexOf(exercise) + 1;
      const judged = { verdict, real: real?.verdicts, isSolved, isExplained, isHintNewest };
      const more = {
        ...(judgedAt !== undefined && { judgedAt: timeOf(judgedAt) }),
        ...(typeError !== undefined && { typeError }),
      };
      return { exercise, place, placeCount: own.length, done, ...judged, ...more, notes };
    }

    function stateNow(): WorkshopState {
      const { name, number, title, prediction, settings, file } = exercise;
      const { chosen, isAnswered } = progress.of(name);
      const { failed } = verdict ?? {};
      return {
        format: 1,
        pid: process.pid,
        updatedAt: now(),
        exercise: { name, number, title, track: settings.track, file: relative(projectDir, file) },
        count: exercises.length,
        solved: exercises.filter(({ name }) => progress.of(name).isSolved).length,
        prediction: {
          question: prediction.question,
          answers: prediction.answers.map(({ text }) => text),
          ...(chosen !== undefined && { chosen }),
          ...(isAnswered && { right: prediction.answers.findIndex(({ isRight }) => isRight) }),
        },
        phase,
        ...(verdict && {
          verdict: {
            at: verdict.at,
            kind: verdict.kind,
            says: verdict.sentence,
            scopes: verdict.cells.map(({ scope, says, verdict }) => ({ scope, says, verdict })),
            ...(failed?.counterexample && {
              counterexample: { scope: failed.scope, reason: reasonOf(failed), steps: shownSteps(failed) },
            }),
          },
        }),
        ...(real && {
          real: {
            at: real.at,
            drills: real.verdicts.map(({ drill, verdict, reason }) => ({ drill, verdict, reason })),
          },
        }),
        isSolved,
      };
    }
  });
}

/** When the file of an exercise was saved last, by the clock of its file system. */
const savedAt = ({ file }: Exercise) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
/** The time of day on this machine: `14:09:07`. */
const timeOf = (iso: string) => new Date(iso).toTimeString().slice(0, 8);
const digitsOf = ({ number }: Exercise) => String(number).padStart(2, '0');
