// Draws the page, and starts its lab.

import { html } from 'htm/preact';
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Given } from '../pack.ts';
import { type Engine, startEngine } from './engine.ts';
import { useLanguage } from './language.ts';
import { glossary, lessons } from './lessons.ts';
import { connect } from './live.ts';
import { RealRun, realServers } from './real.ts';
import { Room } from './room.ts';
import { Scheduler } from './scheduler.ts';
import { Stack } from './stack.ts';
import { Step } from './step.ts';
import { inLanguage, say, type Text } from './texts.ts';
import { Turn } from './turn.ts';

/** What the page was given: by the server of the live page, or with a run that was saved. */
const given: Given = JSON.parse(document.getElementById('given')?.textContent ?? '{}');
const live = given.isServed ? connect() : undefined;
const real = live && realServers(live);
/** The views that are not in every page, by their places behind the lesson and one's own turn. */
const [ROOM, STACK, SAVED] = [100, 101, 102];
const own: [number, Text][] = [
  ...(live
    ? ([
        [ROOM, 'room'],
        [STACK, 'stack'],
      ] as [number, Text][])
    : []),
  ...(given.run ? ([[SAVED, 'saved']] as [number, Text][]) : []),
];

function Page({ engine }: { engine: Engine }) {
  const [files, setFiles] = useState<Record<string, string>>();
  const language = useLanguage();
  /** The step of the lesson; after the last come the scheduler and one's own turn. */
  const [number, setNumber] = useState(given.run ? SAVED : 0);
  const [isReal, setReal] = useState(false);
  useEffect(() => void engine.files.then(setFiles), [engine]);
  const lesson = lessons[number];
  function go(to: number) {
    setNumber(to);
    scrollTo(0, 0);
  }
  return html`<header>
      <h1>${say('title')}</h1>
      <nav aria-label=${say('steps')}>
        ${lessons.map(
          ({ stage }, step) => html`<button aria-current=${step === number ? 'step' : undefined}
          aria-label=${say('step', { n: step })} title=${stage} onClick=${() => go(step)}>${step}</button>`,
        )}
        ${[SCHEDULER, TURN].map((part) => html`<button aria-current=${part === number ? 'step' : undefined} onClick=${() => go(part)}>${say(part === TURN ? 'turn' : 'scheduler')}</button>`)}
        ${own.map(([at, name]) => html`<button aria-current=${number === at ? 'step' : undefined} onClick=${() => go(at)}>${say(name)}</button>`)}
      </nav>
      ${live && lesson && html`<label class="switch"><input type="checkbox" checked=${isReal} onChange=${() => setReal(!isReal)} />${say('realServers')}</label>`}
      ${language}
    </header>
    <main>
      ${
        files === undefined
          ? html`<p>${say('loading')}</p>`
          : lesson
            ? html`<${Step} key=${`${lesson.stage} ${isReal}`} lesson=${lesson} engine=${engine} files=${files} live=${live} real=${isReal ? real : undefined} onNext=${() => go(number + 1)} />`
            : number === SCHEDULER
              ? html`<${Scheduler} engine=${engine} files=${files} />`
              : number === ROOM
                ? html`<${Room} live=${live} />`
                : number === STACK
                  ? html`<${Stack} live=${live} />`
                  : number === SAVED
                    ? html`<${RealRun} run=${given.run} isOver=${true} />`
                    : html`<${Turn} engine=${bench()} files=${files} />`
      }
    </main>
    <footer>${lesson && html`<details><summary>${say('words')}</summary>${glossary.map((word) => html`<p>${inLanguage(word)}</p>`)}</details>`}<small>${lesson && say('keys')} ${report && html`<a href=${report.href}>${say('report')}</a>`}</small></footer>`;
}

const SCHEDULER = lessons.length;
const TURN = SCHEDULER + 1;
/** On a web server the report of a run lies beside the page. */
const report = document.querySelector<HTMLLinkElement>('link[rel=alternate]');
const engine = startEngine();
/** Locks of one's own are played in labs of their own: whatever they do to them, the lesson is as it was. */
const [LEAST_LABS, MOST_LABS] = [2, 4];
let benchEngine: Engine | undefined;
function bench() {
  benchEngine ??= startEngine({
    count: Math.max(LEAST_LABS, Math.min(MOST_LABS, navigator.hardwareConcurrency)),
    isApart: true,
  });
  return benchEngine;
}
// For whoever plays a cell from the console.
Object.assign(globalThis, { lockstep: engine });
render(html`<${Page} engine=${engine} />`, document.body);
