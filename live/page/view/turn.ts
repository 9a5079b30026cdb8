// Your turn: one writes the lock, and every scenario judges it.

import { html } from 'htm/preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { CellRecord } from '../../../loadtest/harness/run-cell.ts';
import type { Played, Ready } from '../worker.ts';
import { Editor } from './editor.ts';
import { EndlessError, type Engine } from './engine.ts';
import { exercisesIn } from './exercises.ts';
import { lessons } from './lessons.ts';
import { Markdown } from './markdown.ts';
import type { LockPlace } from './picture.ts';
import { Controls, usePlayer } from './player.ts';
import { Question } from './question.ts';
import { stopsOf } from './reduce.ts';
import { isTold, Run, scaleOf } from './run.ts';
import { readSaved, save } from './saved.ts';
import { say } from './texts.ts';

/** What the lock of one's own is called wherever a lock has a name. */
const MINE = 'mine';
/** What takes long is played last. */
const LAST = ['redis-outage'];

interface TurnProps {
  engine: Engine;
  files: Record<string, string>;
}

export function Turn({ engine, files }: TurnProps) {
  const exercises = useMemo(() => exercisesIn(files), [files]);
  const [saved, setSaved] = useState(readSaved);
  const [name, setName] = useState('05-owner-check');
  const [drills, setDrills] = useState<Ready['drills']>([]);
  const [results, setResults] = useState<Record<string, CellRecord>>({});
  const [doing, setDoing] = useState<'nothing' | 'judging' | 'endless'>('nothing');
  const [problem, setProblem] = useState<string>();
  const [shown, show] = useState<string>();
  /** How often another text took the place of what is in the editor. */
  const [replaced, setReplaced] = useState(0);
  const [hints, setHints] = useState(0);
  const [chosen, choose] = useState<number>();
  useEffect(() => void engine.ready.then((ready) => setDrills(ready.drills)), [engine]);

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
    setResults({});
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

  async function judge() {
    forget();
    setDoing('judging');
    const placeOf = (drill: string) => (own.includes(drill) ? 0 : LAST.includes(drill) ? 2 : 1);
    const inOrder = drills.toSorted((a, b) => placeOf(a.name) - placeOf(b.name));
    const found: Record<string, CellRecord> = {};
    try {
      for (const { name: drill } of inOrder) {
        const { record } = await engine.play({ stage: MINE, drill, own: text });
        if (record.verdict === 'not-applicable') continue;
        found[drill] = record;
        setResults({ ...found });
        if (exercise && own.every((each) => found[each]?.verdict === 'pass'))
          keep((before) => ({ ...before, solved: [...new Set([...before.solved, name])] }));
      }
      setDoing('nothing');
    } catch (error) {
      setDoing(error instanceof EndlessError ? 'endless' : 'nothing');
      if (!(error instanceof EndlessError)) setProblem((error as Error).message);
    }
  }

  const failed = Object.values(results).filter(({ verdict }) => verdict === 'fail').length;
  const played = Object.keys(results).length;
  const own = exercise?.drills ?? [];
  const fails = own.filter((drill) => results[drill] && results[drill].verdict !== 'pass').join(', ');
  return html`<article class="turn">
    <div>
    <section class="ask">
      <p class="bar">
        <label>${say('begins')}${' '}
          <select value=${name} onChange=${(event: Event) => begin((event.target as HTMLSelectElement).value)}>
            <optgroup label=${say('exercises')}>
              ${exercises.map((each) => html`<option value=${each.name}>${saved.solved.includes(each.name) ? '✔ ' : ''}${each.title}</option>`)}
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
        html`<${Markdown} text=${exercise.text} />
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
        <button class="main" disabled=${doing === 'judging' || drills.length === 0} onClick=${judge}>${say('judge')}</button>
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
            : played === 0
              ? say(doing === 'judging' ? 'judging' : 'unjudged')
              : exercise &&
                html`<b>${fails !== '' ? say('notYet', { fails }) : own.every((drill) => results[drill]) && say('solvedNow')}</b> `
      }${played > 0 && doing !== 'endless' && say('judged', { failed, played })}</p>
      ${shown !== undefined && results[shown] && html`<${Shown} key=${`${shown} ${text}`} drill=${shown} place=${/in-process/.test(name) ? 'node' : 'redis'} play=${() => engine.play({ stage: MINE, drill: shown, own: text, isShown: true })} />`}
      <ul class="results">
        ${Object.entries(results).map(([drill, { verdict, reasons }]) => {
          const asks = drills.find((each) => each.name === drill)?.asks;
          return html`<li class=${verdict}>
            <button aria-pressed=${shown === drill} onClick=${() => show(shown === drill ? undefined : drill)}>${signs[verdict]} ${drill}</button>${' '}
            <span lang="en">${asks} <b>${reasons.join(' ')}</b></span>
          </li>`;
        })}
      </ul>
    </section>
  </article>`;
}

const signs: Record<string, string> = { pass: '✔', fail: '✘', unknown: '?' };

/** A scenario under the lock, step by step. */
function Shown({ drill, place, play }: { drill: string; place: LockPlace; play(): Promise<Played> }) {
  const [records, setRecords] = useState<Played['records']>([]);
  // The lab may be ended meanwhile: then the page says so.
  useEffect(
    () =>
      void play().then(
        (run) => setRecords(run.records),
        () => {},
      ),
    [],
  );
  const stops = useMemo(() => stopsOf([records]), [records]);
  const player = usePlayer(stops, { isTold: isTold(records), begins: false });
  if (records.length === 0) return null;
  return html`<section class="runs">
    <${Run} title=${say('scenario', { name: drill })} records=${records} place=${place} scale=${scaleOf(stops)} at=${stops[player.stop] ?? 0} />
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
