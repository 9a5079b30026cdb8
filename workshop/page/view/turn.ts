// Your turn: one writes the lock, and every scenario judges it.

import { html } from 'htm/preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { PlayEvent } from '../../../loadtest/evidence/playing.ts';
import type { Prediction } from '../../exercises/exercise.ts';
import type { GameEvent } from '../game.ts';
import { Named } from './code.ts';
import { Editor } from './editor.ts';
import { type Engine, LateError } from './engine.ts';
import { exercisesIn, type PageExercise } from './exercises.ts';
import { cellOf, type Judged, judge, scopeOf } from './judging.ts';
import { keepText, readKept } from './kept.ts';
import { lessons } from './lessons.ts';
import { Markdown } from './markdown.ts';
import type { LockPlace } from './picture.ts';
import { Controls, usePlayer } from './player.ts';
import { Question } from './question.ts';
import { isTold, stopsOf } from './reduce.ts';
import { Run, scaleOf } from './run.ts';
import { say, spoken } from './texts.ts';
import { inPageLanguage, Said, searchSaid, stepSaid } from './wording.ts';

interface TurnProps {
  engine: Engine;
  files: Record<string, string>;
}

/** Where the browser keeps one's work. */
const KEY = 'lockstep';
interface Saved {
  /** The texts, by the exercise or stage that one began with. */
  texts: Record<string, string>;
  solved: string[];
}

export function Turn({ engine, files }: TurnProps) {
  const exercises = useMemo(() => exercisesIn(files), [files]);
  const [saved, setSaved] = useState<Saved>(() => ({ texts: {}, solved: [], ...JSON.parse(readKept(KEY) ?? '{}') }));
  const isOpen = (each: PageExercise) => !saved.solved.includes(each.name);
  const [name, setName] = useState(() => exercises.find(isOpen)?.name ?? '');
  const [results, setResults] = useState<Judged[]>([]);
  const [isJudging, setJudging] = useState(false);
  /** Why not all was played: it can't be, or took too long. */
  const [problem, setProblem] = useState<Error>();
  const [shown, show] = useState<Judged>();
  /** The results are of a text that was changed since. */
  const [isOld, setOld] = useState(false);
  const [hints, setHints] = useState(0);
  const [chosen, choose] = useState<number>();
  /** Which text is judged: what is found of an older one is nobody's. */
  const run = useRef(0);
  const replace = useRef<(text: string) => void>(() => {});

  const exercise = exercises.find((each) => each.name === name);
  const words = exercise?.words[spoken()];
  const original = exercise?.original ?? ownPlace(files[`locks/${name}.ts`] ?? '');
  const text = saved.texts[name] ?? original;
  const isSolved = saved.solved.includes(name);

  function keep(change: (before: Saved) => Saved) {
    setSaved((before) => {
      const after = change(before);
      keepText(KEY, JSON.stringify(after));
      return after;
    });
  }
  function begin(another: string) {
    setName(another);
    forget();
    setHints(0);
    choose(undefined);
    scrollTo(0, 0);
  }
  function forget(kept: Judged[] = []) {
    run.current += 1;
    if (isJudging) engine.forget(text);
    setResults(kept);
    setOld(kept.length > 0);
    setProblem(undefined);
    setJudging(false);
    show(undefined);
  }
  function write(changed: string) {
    forget(results);
    keep((before) => ({ ...before, texts: { ...before.texts, [name]: changed } }));
  }

  async function judgeAll() {
    if (isJudging) return;
    forget();
    setJudging(true);
    const own = run.current;
    const found: Judged[] = [];
    try {
      const { drills } = await engine.ready;
      if (run.current !== own) return;
      await judge(engine, { text, exercise, drills }, (judged) => {
        found.push(judged);
        if (run.current === own) setResults([...found]);
      });
      if (run.current !== own) return;
      setJudging(false);
      if (exercise && found.some(({ isAsked }) => isAsked) && failsIn(found).length === 0)
        keep((before) => ({ ...before, solved: [...new Set([...before.solved, name])] }));
    } catch (error) {
      if (run.current !== own) return;
      setJudging(false);
      setProblem(error as Error);
      if (!(error instanceof LateError)) setResults([]);
    }
  }

  const play = async ({ name: asked, isOfSearch }: Judged) => {
    if (isOfSearch) return { ofSearch: (await engine.ask('search', scopeOf(text, asked, exercise))).events };
    return { ofDrill: (await engine.ask('play', { ...cellOf(text, asked), isShown: true })).events };
  };
  const asked = exercise ? results.filter(({ isAsked }) => isAsked) : results;
  const others = results.filter((each) => !asked.includes(each));
  const fails = failsIn(asked);
  const isLost = problem ? !(problem instanceof LateError) : !isOld && asked.some(({ verdict }) => verdict === 'fail');
  const isNowSolved = exercise && !isOld && results.length > 0 && !isJudging && !problem && fails.length === 0;
  const next = [...exercises.slice(exercises.findIndex((each) => each.name === name)), ...exercises].find(isOpen);
  const titleOf = ({ name: number, words }: PageExercise) => `${number.slice(0, 2)} ${words[spoken()].title}`;
  const listed = (judged: Judged[]) =>
    html`<ul class="results">${judged.map((each) => html`<${Result} judged=${each} isShown=${shown === each} isOld=${isOld} show=${show} />`)}</ul>`;
  return html`<article class="turn">
    <section class="ask">
      <p class="bar">
        <label>${say('begins')}${' '}
          <select value=${name} onChange=${(event: Event) => begin((event.target as HTMLSelectElement).value)}>
            <optgroup label=${say('exercises')}>
              ${exercises.map((each) => html`<option value=${each.name}>${isOpen(each) ? '' : '✔ '}${titleOf(each)}</option>`)}
            </optgroup>
            <optgroup label=${say('stages')}>
              ${lessons.map(({ stage }) => html`<option value=${stage}>${stage}</option>`)}
            </optgroup>
          </select>
        </label>
        ${isSolved && html`<b class="pass">${say('solved')}</b>`}
      </p>
      ${
        words
          ? html`<${Markdown} text=${words.text} />
        <${Question} question=${words.prediction.question} chosen=${chosen} choose=${choose}
          answers=${words.prediction.answers.map((answer) => answer.text)} />
        ${chosen !== undefined && html`<${Markdown} text=${whatOf(words.prediction, chosen)} />`}
        ${words.hints.slice(0, hints).map((hint) => html`<aside><${Markdown} text=${hint} /></aside>`)}
        <p class="bar">
          <button aria-disabled=${hints >= words.hints.length} onClick=${() => setHints(Math.min(hints + 1, words.hints.length))}>${say('hint')}</button>
          ${isSolved && html`<details><summary>${say('solution')}</summary><${Markdown} text=${words.solution} /><pre tabindex="0">${exercise.solution}</pre></details>`}
        </p>`
          : html`<p>${say('explore')}</p>`
      }
      <${Named} text=${`${words?.text} ${words?.hints.join()} ${text}`} files=${files} />
    </section>
    <div>
    <section class="write">
      <${Editor} key=${`${name} ${spoken()}`} text=${text} label=${say('yourLock')} describedBy="leaves" onChange=${write} replace=${replace} />
      <p class="bar">
        <button class="main" aria-disabled=${isJudging} onClick=${judgeAll}>${say('judge')}</button>
        <button aria-disabled=${text === original} onClick=${() => text === original || replace.current(original)}>${say('reset')}</button>
        <button onClick=${() => download(text)}>${say('export')}</button>
        <label class="button">${say('import')}<input type="file" accept=".ts,.js,.txt" onChange=${(event: Event) => void readFile(event, (given) => replace.current(given))} /></label>
      </p>
      <p role="status" class=${isLost ? 'outcome lost' : 'outcome'}>${
        problem instanceof LateError
          ? html`<${Said} told=${problem.told} />`
          : problem
            ? html`${say('broken')} <span lang="en">${problem.message}</span>`
            : results.length === 0 || isOld
              ? say(isJudging ? 'judging' : 'untouched')
              : html`<b>${isNowSolved ? say('solvedNow') : exercise && fails.length > 0 && say('notYet', { fails: [...new Set(fails.map((each) => each.name))].join(', ') })}</b> ${say('judged', { failed: asked.filter(({ verdict }) => verdict === 'fail').length, played: asked.length })}`
      }</p>
      ${isNowSolved && next && html`<p><button class="main" onClick=${() => begin(next.name)}>${say('nextExercise', { name: titleOf(next) })}</button></p>`}
      <small id="leaves">${say('leaves')}</small>
    </section>
    <section class=${isOld ? 'judged old' : 'judged'}>
      ${isOld && html`<p>${say('beforeChange')}</p>`}
      ${shown && html`<${Shown} key=${`${shown.name} ${shown.isOfSearch} ${text}`} judged=${shown} place=${/in-process/.test(name) ? 'node' : 'redis'} play=${() => play(shown)} onProblem=${setProblem} />`}
      ${listed(asked)}
      ${others.length > 0 && html`<details><summary>${say('others')}</summary>${listed(others)}</details>`}
    </section>
    </div>
  </article>`;
}

const signs = { pass: '✔', fail: '✘', unknown: '?' };

/** What decides the exercise and is against it. */
const failsIn = (results: Judged[]) => results.filter(({ isAsked, verdict }) => isAsked && verdict !== 'pass');

interface ResultProps {
  judged: Judged;
  isShown: boolean;
  isOld: boolean;
  show(judged: Judged | undefined): void;
}

function Result({ judged, isShown, isOld, show }: ResultProps) {
  const { name, isOfSearch, verdict, asks, says } = judged;
  // Of a scope in which the lock holds there is no order of events to see, and a text that was changed can't be played.
  const isPlain = isOld || (isOfSearch && verdict !== 'fail');
  const title = `${signs[verdict]} ${isOfSearch ? say('everyOrder', { name }) : name}`;
  return html`<li class=${verdict}>
    ${isPlain ? html`<strong>${title}</strong>` : html`<button aria-pressed=${isShown} onClick=${() => show(isShown ? undefined : judged)}>${title}</button>`}${' '}
    <${Said} told=${asks} /> <b><${Said} told=${says} /></b>
  </li>`;
}

/** What is to be seen of a question. */
interface Seen {
  ofDrill?: PlayEvent[];
  ofSearch?: GameEvent[];
}

interface ShownProps {
  judged: Judged;
  place: LockPlace;
  play(): Promise<Seen>;
  onProblem(error: Error): void;
}

/** A scenario under the lock, or the order of events that breaks it, step by step. */
function Shown({ judged, place, play, onProblem }: ShownProps) {
  const [{ ofDrill = [], ofSearch = [] }, setSeen] = useState<Seen>({});
  useEffect(() => {
    let isLeft = false;
    play().then(setSeen, (error) => isLeft || onProblem(error));
    return () => {
      isLeft = true;
    };
  }, []);
  const { name, isOfSearch } = judged;
  const stops = useMemo(
    () => (isOfSearch ? [...new Set(ofSearch.map(({ at }) => at))] : stopsOf([ofDrill])),
    [ofDrill, ofSearch],
  );
  const player = usePlayer(stops, { isTold: isOfSearch || isTold(ofDrill), begins: false });
  const section = useRef<HTMLElement>(null);
  useEffect(() => section.current?.scrollIntoView({ block: 'nearest' }), [stops]);
  if (stops.length === 0) return null;
  const asks = judged.asks.map(inPageLanguage).join(' ');
  const run = { place, scale: scaleOf(stops), at: stops[player.stop] ?? 0, asks };
  return html`<section class="runs" ref=${section}>
    ${
      isOfSearch
        ? html`<${Run} title=${say('shortest', { name })} events=${ofSearch} said=${searchSaid} ...${run} />`
        : html`<${Run} title=${say('scenario', { name })} events=${ofDrill} said=${stepSaid} ...${run} />`
    }
    <${Controls} player=${player} count=${stops.length} />
  </section>`;
}

/** A stage's file imports from where it lies; a lock of one's own does so from another folder. */
const ownPlace = (text: string) => text.replace(/from '\.\//g, "from '../../locks/");

function whatOf({ answers, explains }: Prediction, chosen: number) {
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
