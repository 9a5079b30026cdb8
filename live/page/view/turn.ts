// Your turn: one writes the lock, and every scenario judges it.

import { html } from 'htm/preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { PlayRecord } from '../records.ts';
import type { Ready } from '../worker.ts';
import { Editor } from './editor.ts';
import { EndlessError, type Engine } from './engine.ts';
import { exercisesIn } from './exercises.ts';
import { cellOf, type Judged, judge, scopeOf } from './judging.ts';
import { lessons } from './lessons.ts';
import { Markdown } from './markdown.ts';
import type { LockPlace } from './picture.ts';
import { Controls, usePlayer } from './player.ts';
import { Question } from './question.ts';
import { stopsOf } from './reduce.ts';
import { isTold, Run, scaleOf } from './run.ts';
import { readSaved, save } from './saved.ts';
import { inChinese, translated } from './sentences.ts';
import { say, spoken } from './texts.ts';

interface TurnProps {
  engine: Engine;
  files: Record<string, string>;
}

export function Turn({ engine, files }: TurnProps) {
  const exercises = useMemo(() => exercisesIn(files), [files]);
  const [saved, setSaved] = useState(readSaved);
  const [name, setName] = useState('05-owner-check');
  const [drills, setDrills] = useState<Ready['drills']>([]);
  const [results, setResults] = useState<Judged[]>([]);
  const [doing, setDoing] = useState<'nothing' | 'judging' | 'endless'>('nothing');
  const [problem, setProblem] = useState<string>();
  const [shown, show] = useState<Judged>();
  /** How often another text took the place of what is in the editor. */
  const [replaced, setReplaced] = useState(0);
  const [hints, setHints] = useState(0);
  const [chosen, choose] = useState<number>();
  useEffect(() => {
    void engine.ready.then((ready) => setDrills(ready.drills));
    // What has run once runs faster: no lock of one's own is in it.
    for (let lab = 0; lab < engine.count; lab += 1) void engine.ask('play', { stage: '4-ttl', drill: 'slow-holder' });
  }, [engine]);

  const exercise = exercises.find((each) => each.name === name);
  const original = exercise?.original ?? ownPlace(files[`locks/${name}.ts`] ?? '');
  const text = saved.texts[name] ?? original;
  const isSolved = saved.solved.includes(name);

  function keep(change: (before: typeof saved) => typeof saved) {
    setSaved((before) => {
      const after = change(before);
      save(after);
      return after;
    });
  }
  function begin(another: string) {
    setName(another);
    forget();
    setHints(0);
    choose(undefined);
  }
  function forget() {
    setResults([]);
    setProblem(undefined);
    setDoing('nothing');
    show(undefined);
  }
  function write(changed: string) {
    forget();
    keep((before) => ({ ...before, texts: { ...before.texts, [name]: changed } }));
  }

  function replace(another: string) {
    write(another);
    setReplaced(replaced + 1);
  }

  async function judgeAll() {
    forget();
    setDoing('judging');
    const found: Judged[] = [];
    try {
      await judge(engine, { text, exercise, drills }, (judged) => {
        found.push(judged);
        setResults([...found]);
      });
      setDoing('nothing');
      if (exercise && failsIn(found).length === 0)
        keep((before) => ({ ...before, solved: [...new Set([...before.solved, name])] }));
    } catch (error) {
      setDoing(error instanceof EndlessError ? 'endless' : 'nothing');
      if (!(error instanceof EndlessError)) setProblem((error as Error).message);
    }
  }

  const play = async ({ name: asked, isOfSearch }: Judged) => {
    const task = isOfSearch
      ? engine.ask('search', scopeOf(text, asked, exercise))
      : engine.ask('play', { ...cellOf(text, asked), isShown: true });
    return (await task).records;
  };
  const failed = results.filter(({ verdict }) => verdict === 'fail').length;
  const fails = failsIn(results).map(({ name }) => name);
  return html`<article class="turn">
    <div>
    <section class="ask">
      <p class="bar">
        <label>${say('begins')}${' '}
          <select value=${name} onChange=${(event: Event) => begin((event.target as HTMLSelectElement).value)}>
            <optgroup label=${say('exercises')}>
              ${exercises.map((each) => html`<option value=${each.name}>${saved.solved.includes(each.name) ? '✔ ' : ''}${each.name.slice(0, 2)} ${translated(each.title)}</option>`)}
            </optgroup>
            <optgroup label=${say('stages')}>
              ${lessons.map(({ stage }) => html`<option value=${stage}>${stage}</option>`)}
            </optgroup>
          </select>
        </label>
        ${isSolved && html`<b class="pass">${say('solved')}</b>`}
      </p>
      ${
        exercise &&
        html`${spoken() === 'zh' && html`<small>${say('englishOnly')}</small>`}
        <${Markdown} text=${exercise.text} />
        <${Question} lang="en" question=${exercise.prediction.question} chosen=${chosen} choose=${choose}
          answers=${exercise.prediction.answers.map((answer) => answer.text)} />
        ${chosen !== undefined && html`<${Markdown} text=${whatOf(exercise.prediction, chosen)} />`}
        ${exercise.hints.slice(0, hints).map((hint) => html`<aside><${Markdown} text=${hint} /></aside>`)}
        <p class="bar">
          ${hints < exercise.hints.length && html`<button onClick=${() => setHints(hints + 1)}>${say('hint')}</button>`}
          ${isSolved && html`<details><summary>${say('solution')}</summary><pre tabindex="0">${exercise.solution}</pre></details>`}
        </p>`
      }
    </section>
    <section class="write">
      <${Editor} key=${`${name} ${replaced}`} text=${text} label=${say('yourLock')} onChange=${write} />
      <p class="bar">
        <button class="main" disabled=${doing === 'judging' || drills.length === 0} onClick=${judgeAll}>${say('judge')}</button>
        <button onClick=${() => replace(original)} disabled=${text === original}>${say('reset')}</button>
        <button onClick=${() => download(text)}>${say('export')}</button>
        <label class="button">${say('import')}<input type="file" accept=".ts,.js,.txt" onChange=${(event: Event) => void readFile(event, replace)} /></label>
      </p>
      <small>${say('leaves')}</small>
    </section>
    </div>
    <section class="judged">
      <p role="status" class=${problem || doing === 'endless' || failed > 0 ? 'outcome lost' : 'outcome'}>${
        problem !== undefined
          ? html`${say('broken')} <span lang="en">${problem}</span>`
          : doing === 'endless'
            ? say('endless')
            : results.length === 0
              ? say(doing === 'judging' ? 'judging' : 'unjudged')
              : exercise &&
                html`<b>${fails.length > 0 ? say('notYet', { fails: [...new Set(fails)].join(', ') }) : doing === 'nothing' && say('solvedNow')}</b> `
      }${results.length > 0 && doing !== 'endless' && say('judged', { failed, played: results.length })}</p>
      ${shown && html`<${Shown} key=${`${shown.name} ${shown.isOfSearch} ${text}`} judged=${shown} place=${/in-process/.test(name) ? 'node' : 'redis'} play=${() => play(shown)} />`}
      <ul class="results">
        ${[false, true].map((isOfSearch) =>
          results
            .filter((each) => each.isOfSearch === isOfSearch)
            .map((judged) => html`<${Result} judged=${judged} isShown=${shown === judged} show=${show} />`),
        )}
      </ul>
    </section>
  </article>`;
}

const signs = { pass: '✔', fail: '✘', unknown: '?' };

/** What decides the exercise and is against it. */
const failsIn = (results: Judged[]) => results.filter(({ isAsked, verdict }) => isAsked && verdict !== 'pass');

interface ResultProps {
  judged: Judged;
  isShown: boolean;
  show(judged: Judged | undefined): void;
}

function Result({ judged, isShown, show }: ResultProps) {
  const { name, isOfSearch, verdict, asks, reasons } = judged;
  // Of a scope in which the lock holds there is no order of events to see.
  const isPlain = isOfSearch && verdict !== 'fail';
  const title = `${signs[verdict]} ${isOfSearch ? say('everyOrder', { name }) : name}`;
  return html`<li class=${verdict}>
    ${isPlain ? html`<strong>${title}</strong>` : html`<button aria-pressed=${isShown} onClick=${() => show(isShown ? undefined : judged)}>${title}</button>`}${' '}
    <${Words} text=${asks} /> <b>${reasons.map((reason) => html`<${Words} text=${reason} /> `)}</b>
  </li>`;
}

/** A sentence in the language of the page, where it has it. */
function Words({ text }: { text: string }) {
  const chinese = spoken() === 'zh' ? inChinese(text) : undefined;
  return html`<span lang=${chinese === undefined ? 'en' : undefined}>${chinese ?? text}</span>`;
}

/** A scenario under the lock, or the order of events that breaks it, step by step. */
function Shown({ judged, place, play }: { judged: Judged; place: LockPlace; play(): Promise<PlayRecord[]> }) {
  const [records, setRecords] = useState<PlayRecord[]>([]);
  // The lab may be ended meanwhile: then the page says so.
  useEffect(() => void play().then(setRecords, () => {}), []);
  const { name, isOfSearch } = judged;
  const stops = useMemo(() => (isOfSearch ? [...new Set(records.map(({ at }) => at))] : stopsOf([records])), [records]);
  const player = usePlayer(stops, { isTold: isTold(records), begins: false });
  if (records.length === 0) return null;
  return html`<section class="runs">
    <${Run} title=${say(isOfSearch ? 'shortest' : 'scenario', { name })} records=${records} place=${place} scale=${scaleOf(stops)} at=${stops[player.stop] ?? 0} />
    <${Controls} player=${player} count=${stops.length} />
  </section>`;
}

/** A stage's file imports from where it lies; a lock of one's own does so from another folder. */
const ownPlace = (text: string) => text.replace(/from '\.\//g, "from '../../locks/");

function whatOf(
  { answers, explains }: { answers: { because?: string | undefined; isRight?: true | undefined }[]; explains: string },
  chosen: number,
) {
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
