// The workshop on a terminal: shows an exercise, takes the prediction, judges each save, and goes on.

import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { projectDir } from '../../scripts/stack/parts.ts';
import type { Exercise } from './exercise.ts';
import { type KeyInput, listenToKeys } from './keys.ts';
import { widthOf } from './layout.ts';
import { diffPage, exercisePage, helpPage, listPage, type Shown, solutionPage } from './pages.ts';
import type { Progress } from './progress.ts';
import type { RealJudge, RealVerdict } from './real-judge.ts';
import type { SearchJudge, SearchVerdict } from './search-judge.ts';
import { removeState, stateFile, type WorkshopState, writeState } from './state.ts';
import { shownSteps } from './steps.ts';
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
  /** What to say once, at the beginning. */
  notes?: string[];
  /** Where the state is written for others. */
  state?: string;
  /** Ends the session. */
  signal: AbortSignal;
}

type Page = 'exercise' | 'text' | 'list' | 'help' | 'solution' | 'diff';

const CLEAR = '\x1b[2J\x1b[H';

/** Resolves when the user, or the signal, has ended it. */
export function runSession(options: SessionOptions): Promise<void> {
  const { exercises, progress, search, serversOf, input, output, paint, state = stateFile, signal } = options;
  let exercise = options.first;
  let page: Page = 'exercise';
  let phase: WorkshopState['phase'] = 'open';
  let verdict: (SearchVerdict & { at: string }) | undefined;
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
    const end = () => {
      if (ending.signal.aborted) return;
      ending.abort(new Error('the workshop has ended'));
      judging.abort(ending.signal.reason);
      unlisten();
      output.off?.('resize', redraw);
      unwatch();
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
      [isExplained, isHintNewest] = [false, false];
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
      if (hints === exercise.hints.length) return say('There are no more hints.');
      progress.change(exercise.name, { hints: hints + 1 });
      isHintNewest = true;
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
      if (exercise.settings.search === undefined) {
        [real, isSolved, isExplained] = [undefined, false, false];
        return say('You have saved it.');
      }
      void judge();
    }

    /** Judges the file as it is by the search, and draws what it says. */
    async function judge() {
      judging.abort();
      const mine = new AbortController();
      judging = mine;
      const judged = exercise;
      if (judged.settings.search === undefined) return draw();
      [phase, real, isSolved, isExplained, isHintNewest] = ['judging', undefined, false, false, false];
      notes = [];
      draw();
      try {
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
      }
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
      if (phase === 'judging') return say('The search is at it. Press r when it has ended.');
      if (verdict?.kind === 'broken' || !existsSync(exercise.file))
        return say('The file can’t be loaded as it is, so real servers can’t run it either.');
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
        if (hasSavedMeanwhile) await judge();
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
      if (is('fail')) return isMeant ? 'This is what the exercise is about.' : '';
      if (is('unknown'))
        return 'A step of the drill did not happen, so nothing is known. Close other programs, and press r again.';
      if (is('not-applicable')) return 'This machine can’t play the drill.';
      return `${paint.green(paint.bold('Solved'))} on real servers, too. n goes to the next exercise.`;
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
      const style = { paint, width: widthOf(output.columns) };
      output.write(`${CLEAR}${linesOf(style).join('\n')}\n`);
    }

    function linesOf(style: Style): string[] {
      if (page === 'list')
        return listPage(exercises, exercise, (name) => progress.of(name).isSolved, style, output.rows);
      if (page === 'help') return helpPage(exercise, style);
      if (page === 'solution') return solutionPage(exercise, style);
      if (page === 'diff') return diffPage(exercise, style);
      const going = phase === 'judging' ? [paint.dim('The search looks at every order of events …')] : [];
      const shown = { ...shownNow(), notes: [...notes, ...going].filter(Boolean) };
      return exercisePage(shown, style, page === 'text' ? undefined : output.rows);
    }

    function shownNow(): Shown {
      const own = exercises.filter(({ settings }) => settings.track === exercise.settings.track);
      const done = progress.of(exercise.name);
      const place = own.indexOf(exercise) + 1;
      // While it is judged anew, what was said before is said no longer.
      const said = phase === 'judging' ? undefined : verdict;
      const judged = { verdict: said, real: real?.verdicts, isSolved, isExplained, isHintNewest };
      return { exercise, place, placeCount: own.length, done, ...judged, notes };
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
              counterexample: { scope: failed.scope, reason: failed.reason, steps: shownSteps(failed.counterexample) },
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

const now = () => new Date().toISOString();
