// Your turn: write the lock, and every scenario judges it. Lock and picture are side by side.

import { html } from 'htm/preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { spoken } from '../../../loadtest/narration/language.ts';
import type { Prediction } from '../../exercises/task.ts';
import { lessons } from '../../picture/lessons.ts';
import { fileOf, Named } from './code.ts';
import { Editor, type Mark } from './editor.ts';
import type { Engine } from './engine.ts';
import { exercisesIn, type PageExercise } from './exercises.ts';
import { type Judged, judge, type Outcome } from './judging.ts';
import { keepText, readKept } from './kept.ts';
import { Markdown } from './markdown.ts';
import { Question } from './question.ts';
import { type At, lineSaid, Seen } from './seen.ts';
import { say } from './texts.ts';
import { Said } from './wording.ts';

interface TurnProps {
  engine: Engine;
  files: Record<string, string>;
  /** The exercise or stage to start with, from the address. */
  name: string | undefined;
  open(name: string): void;
}

/** The storage key of the user's work. */
const KEY = 'lockstep';
interface Saved {
  /** The texts, by exercise or stage. */
  texts: Record<string, string>;
  solved: string[];
}

const titleOf = ({ name, words }: PageExercise) => `${name.slice(0, 2)} ${words[spoken()].title}`;

export function Turn({ engine, files, name: asked, open }: TurnProps) {
  const exercises = useMemo(() => exercisesIn(files), [files]);
  const [saved, setSaved] = useState<Saved>(() => ({ texts: {}, solved: [], ...JSON.parse(readKept(KEY) ?? '{}') }));
  const isOpen = (each: PageExercise) => !saved.solved.includes(each.name);
  const [first] = useState(() => (exercises.find(isOpen) ?? exercises[0])?.name ?? '');
  const isThere = exercises.some((each) => each.name === asked) || lessons.some(({ stage }) => stage === asked);
  const name = asked !== undefined && isThere ? asked : first;
  const place = exercises.findIndex((each) => each.name === name);
  const exercise = exercises[place];
  const original = exercise?.original ?? ownPlace(files[fileOf(files, name)] ?? '');

  function keep(change: (before: Saved) => Saved) {
    setSaved((before) => {
      const after = change(before);
      keepText(KEY, JSON.stringify(after));
      return after;
    });
  }
  const write = (text: string) => keep((before) => ({ ...before, texts: { ...before.texts, [name]: text } }));
  const solve = () => keep((before) => ({ ...before, solved: [...new Set([...before.solved, name])] }));
  const given = { engine, files, name, exercise, original, text: saved.texts[name] ?? original, write, solve };
  const next = [...exercises.slice(place + 1), ...exercises].find((each) => isOpen(each) && each !== exercise);
  return html`<${Bench} key=${name} ...${given} isSolved=${saved.solved.includes(name)} next=${next} open=${open}>
    <select aria-label=${say('begins')} value=${name} onChange=${(event: Event) => open((event.target as HTMLSelectElement).value)}>
      <optgroup label=${say('exercises')}>
        ${exercises.map((each) => html`<option value=${each.name}>${isOpen(each) ? '' : '✔ '}${titleOf(each)}</option>`)}
      </optgroup>
      <optgroup label=${say('stages')}>
        ${lessons.map(({ stage }) => html`<option value=${stage}>${stage}</option>`)}
      </optgroup>
    </select>
  </${Bench}>`;
}

interface BenchProps {
  engine: Engine;
  files: Record<string, string>;
  name: string;
  exercise: PageExercise | undefined;
  original: string;
  text: string;
  write(text: string): void;
  solve(): void;
  isSolved: boolean;
  /** The exercises that are not solved yet. */
  next: PageExercise | undefined;
  open(name: string): void;
  /** Opens another exercise or stage. */
  children: unknown;
}

/** The result of a text. `problem`: it can't be played. */
interface Verdicts extends Outcome {
  text: string;
  problem?: Error & { line?: number };
}

/** The progress: checks done, and their total. */
interface Progress {
  done: number;
  of: number;
}

/** Judges one text at a time. Results of an older text are dropped. */
function useJudging({ engine, text, exercise }: Pick<BenchProps, 'engine' | 'text' | 'exercise'>) {
  const [verdicts, setVerdicts] = useState<Verdicts>();
  const [progress, setProgress] = useState<Progress>();
  const run = useRef(0);
  const latest = useRef(text);
  latest.current = text;

  function leave() {
    run.current += 1;
    engine.forget(latest.current);
    setProgress(undefined);
  }
  useEffect(() => leave, []);

  async function judgeAll(): Promise<Verdicts | undefined> {
    run.current += 1;
    const own = run.current;
    const isMine = () => run.current === own;
    setProgress({ done: 0, of: 0 });
    const { drills } = await engine.ready;
    if (!isMine()) return undefined;
    const tell = (done: number, of: number) => isMine() && setProgress({ done, of });
    const found = await judge(engine, { text, exercise, drills }, tell).catch((problem: Error) => ({
      judged: [],
      problem,
    }));
    if (!isMine()) return undefined;
    setProgress(undefined);
    setVerdicts({ ...found, text });
    return { ...found, text };
  }

  return { verdicts, progress, judgeAll, leave };
}

/** An exercise or a stage, and the user's lock for it. */
function Bench({
  engine,
  files,
  name,
  exercise,
  original,
  text,
  write,
  solve,
  isSolved,
  next,
  open,
  children,
}: BenchProps) {
  const { verdicts, progress, judgeAll, leave } = useJudging({ engine, text, exercise });
  const [shown, show] = useState<Judged>();
  /** The sales' current lines. */
  const [at, setAt] = useState<At>([]);
  const replace = useRef<(text: string) => void>(() => {});
  const results = useRef<HTMLElement>(null);
  // On a phone what came of it is below.
  useEffect(() => results.current?.scrollIntoView(), [verdicts]);

  function change(changed: string) {
    if (progress) leave();
    write(changed);
  }
  async function press() {
    const found = progress ? undefined : await judgeAll();
    if (!found) return;
    show(found.judged.find(({ verdict, isAsked }) => verdict === 'fail' && (isAsked || !exercise)));
    if (exercise && isSolvedBy(found)) solve();
  }

  const { judged = [], problem } = verdicts ?? {};
  const isOld = verdicts !== undefined && verdicts.text !== text;
  const asked = exercise ? judged.filter(({ isAsked }) => isAsked) : judged;
  const isNowSolved = exercise && verdicts && !isOld && !progress && isSolvedBy(verdicts);
  const marks = isOld ? [] : marksOf(at, problem?.line ?? shown?.line);
  return html`<article class=${judged.length > 0 ? 'turn judged' : 'turn'}>
    <p class="bar begins">${children} ${isSolved && html`<b class="pass">${say('solved')}</b>`}</p>
    <${Task} exercise=${exercise} files=${files} text=${text} isSolved=${isSolved} />
    <section class="write">
      <${Editor} key=${spoken()} text=${text} label=${say('yourLock')} describedBy="leaves" marks=${marks} onChange=${change} replace=${replace} />
      <p class="bar">
        <button class="main" aria-disabled=${progress !== undefined} onClick=${press}>${say('judge')}</button>
        <button aria-disabled=${text === original} onClick=${() => text === original || replace.current(original)}>${say('reset')}</button>
        <button onClick=${() => download(text)}>${say('export')}</button>
        <label class="button">${say('import')}<input type="file" accept=".ts,.js,.txt" onChange=${(event: Event) => void readFile(event, (given) => replace.current(given))} /></label>
      </p>
      <${Status} progress=${progress} verdicts=${isOld ? undefined : verdicts} asked=${asked} isExercise=${exercise !== undefined} />
      ${isNowSolved && next && html`<p><button class="main" onClick=${() => open(next.name)}>${say('nextExercise', { name: titleOf(next) })}</button></p>`}
      <small id="leaves">${say('leaves')}</small>
    </section>
    ${
      judged.length > 0 &&
      html`<section class=${isOld ? 'verdicts old' : 'verdicts'} ref=${results}>
      <${Results} asked=${asked} others=${judged.filter((each) => !asked.includes(each))} shown=${shown} show=${show} isOld=${isOld} />
      ${shown && html`<${Seen} key=${`${shown.name} ${shown.isOfSearch} ${verdicts?.text}`} judged=${shown} text=${verdicts?.text} exercise=${exercise} name=${name} engine=${engine} setAt=${setAt} />`}
    </section>`
    }
  </article>`;
}

interface StatusProps {
  progress: Progress | undefined;
  /** The result for the current text. */
  verdicts: Verdicts | undefined;
  asked: Judged[];
  isExercise: boolean;
}

/** The progress, then the result. */
function Status({ progress, verdicts, asked, isExercise }: StatusProps) {
  const said = (isLost: boolean, what: unknown) =>
    html`<div role="status" class=${isLost ? 'outcome lost' : 'outcome'}>${what}</div>`;
  if (progress) {
    const { done, of } = progress;
    const bar = html`<progress max=${of || 1} value=${done} aria-label=${say('judge')} />`;
    return said(false, html`${bar} ${of === 0 ? say('loading') : say('playingOf', { n: Math.min(done + 1, of), of })}`);
  }
  if (verdicts === undefined) return said(false, say('untouched'));
  const { problem, late } = verdicts;
  if (problem)
    return said(true, html`${say('broken')} ${lineSaid(problem.line)}<span lang="en">${problem.message}</span>`);
  const isLost = asked.some(({ verdict }) => verdict === 'fail');
  const outcome = isExercise && html`<b>${say(isSolvedBy(verdicts) ? 'solvedNow' : 'notYet')}</b>`;
  if (late) return said(isLost, html`${isLost && outcome} <${Said} told=${late.told} />`);
  const passed = asked.filter(({ verdict }) => verdict === 'pass').length;
  return said(isLost, html`${outcome} ${say('judged', { passed, played: asked.length })}`);
}

/** True if every check of the exercise passes. */
function isSolvedBy({ judged, late, problem }: Omit<Verdicts, 'text'>) {
  const asked = judged.filter(({ isAsked }) => isAsked);
  return !late && !problem && asked.length > 0 && asked.every(({ verdict }) => verdict === 'pass');
}

/** The highlighted lines: those of the sales, and the line that threw an error. */
function marksOf(at: At, bad: number | undefined): Mark[] {
  const lines = new Set([...(bad === undefined ? [] : [bad]), ...at.flatMap(({ line }) => line ?? [])]);
  return [...lines].map((line) => ({
    line,
    sales: at.filter((each) => each.line === line).map(({ sale }) => sale),
    isBad: line === bad,
  }));
}

interface TaskProps {
  exercise: PageExercise | undefined;
  files: Record<string, string>;
  text: string;
  isSolved: boolean;
}

/** The task, the question, the hints, and the solution once it is solved. */
function Task({ exercise, files, text, isSolved }: TaskProps) {
  const [hints, setHints] = useState(0);
  const [chosen, choose] = useState<number>();
  const words = exercise?.words[spoken()];
  const named = html`<${Named} text=${`${words?.text} ${words?.hints.join()} ${text}`} files=${files} />`;
  if (!words) return html`<section class="ask" tabindex="0"><p>${say('explore')}</p>${named}</section>`;
  const { question, answers } = words.prediction;
  const isAnswered = chosen !== undefined;
  return html`<section class="ask" tabindex="0" aria-label=${words.title}>
    <h2>${words.title}</h2>
    <${Markdown} text=${words.text} />
    <${Question} question=${question} chosen=${chosen} right=${isAnswered ? answers.findIndex(({ isRight }) => isRight) : undefined}
      choose=${choose} answers=${answers.map((answer) => answer.text)} />
    ${isAnswered && html`<${Markdown} text=${whyOf(words.prediction, chosen)} />`}
    ${words.hints.slice(0, hints).map((hint) => html`<aside><${Markdown} text=${hint} /></aside>`)}
    <p class="bar">
      <button aria-disabled=${hints >= words.hints.length} onClick=${() => setHints(Math.min(hints + 1, words.hints.length))}>${say('hint')}</button>
      ${isSolved && html`<details><summary>${say('solution')}</summary><${Markdown} text=${words.solution} /><pre tabindex="0">${exercise?.solution}</pre></details>`}
    </p>
    ${named}
  </section>`;
}

const signs = { pass: '✔', fail: '✘', unknown: '?' };

interface ResultsProps {
  asked: Judged[];
  others: Judged[];
  shown: Judged | undefined;
  show(judged: Judged): void;
  isOld: boolean;
}

function Results({ asked, others, shown, show, isOld }: ResultsProps) {
  const listed = (judged: Judged[]) =>
    html`<ul>${judged.map((each) => {
      const name = each.isOfSearch ? say('everyOrder', { name: each.name }) : each.name;
      return html`<li class=${each.verdict}><button aria-pressed=${shown === each} onClick=${() => show(each)}>${signs[each.verdict]} ${name}</button></li>`;
    })}</ul>`;
  return html`<div class="results" tabindex="0" role="group" aria-label=${say('results')}>
    ${isOld && html`<small>${say('beforeChange')}</small>`}
    ${listed(asked)}
    ${others.length > 0 && html`<details><summary>${say('others', { n: others.length })}</summary>${listed(others)}</details>`}
  </div>`;
}

/** A stage's file imports relative to its own place; a user's lock does so from another folder. */
const ownPlace = (text: string) => text.replace(/from '\.\//g, "from '../../locks/");

function whyOf({ answers, explains }: Prediction, chosen: number) {
  const { isRight, because = '' } = answers[chosen] ?? {};
  return isRight ? `**✔** ${explains}` : `**✘** ${because}`;
}

function download(text: string) {
  const href = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  Object.assign(document.createElement('a'), { href, download: 'lock.ts' }).click();
  URL.revokeObjectURL(href);
}

async function readFile({ target }: Event, take: (text: string) => void) {
  const [file] = (target as HTMLInputElement).files ?? [];
  if (file) take(await file.text());
}
