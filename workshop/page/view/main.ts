// Draws the page and starts its lab.

import { html } from 'htm/preact';
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { inLanguage } from '../../../loadtest/narration/language.ts';
import { glossary, lessons } from '../../picture/lessons.ts';
import type { Given } from '../pack.ts';
import { type Engine, startEngine } from './engine.ts';
import { keepText, readKept } from './kept.ts';
import { LanguageButton } from './language.ts';
import { connect } from './live.ts';
import { RealRun } from './real.ts';
import { Room } from './room.ts';
import { addressOf, type Go, type Route, useRoute } from './route.ts';
import { Scheduler } from './scheduler.ts';
import { Stack } from './stack.ts';
import { type Progress, Step } from './step.ts';
import { say, speakAtFirst, type Text } from './texts.ts';
import { Turn } from './turn.ts';

/** The page's input: from the live page's server, or a saved run. */
const given: Given = JSON.parse(document.getElementById('given')?.textContent ?? '{}');
const live = given.isServed ? connect() : undefined;
/** The views besides the lesson's steps, by their names in the address. */
const views: [string, Text][] = [
  ['turn', 'turn'],
  ...(live
    ? ([
        ['room', 'room'],
        ['stack', 'stack'],
      ] as [string, Text][])
    : []),
  ...(given.run ? ([['saved', 'saved']] as [string, Text][]) : []),
];
/** On a web server the report of a run is beside the page. */
const report = document.querySelector<HTMLLinkElement>('link[rel=alternate]');
/** The storage key of the user's progress in the lesson. */
const KEY = 'lockstep lesson';

function Page({ engine }: { engine: Engine }) {
  const [files, setFiles] = useState<Record<string, string>>();
  const [route, go] = useRoute();
  speakAtFirst(route.lang ?? readKept('lockstep language'));
  const [progress, setProgress] = useState<Progress>(() => ({
    answers: {},
    seen: [],
    ...JSON.parse(readKept(KEY) ?? '{}'),
  }));
  useEffect(() => void engine.files.then(setFiles), [engine]);
  useEffect(() => {
    if (given.run && !location.hash.startsWith('#/')) go({ view: 'saved' });
  }, []);
  const number = Number(route.view);
  const isStep = lessons[number] !== undefined;
  function keep(change: Progress) {
    setProgress(change);
    keepText(KEY, JSON.stringify(change));
  }
  useEffect(() => {
    document.querySelector('nav [aria-current]')?.scrollIntoView({ inline: 'center', block: 'nearest' });
  }, [route.view, files]);
  return html`<${Header} route=${route} go=${go} seen=${progress.seen} />
    <main>${
      files === undefined
        ? html`<p>${say('loading')}</p>`
        : isStep
          ? route.part === 'break'
            ? html`<${Scheduler} key=${number} number=${number} engine=${engine} files=${files} go=${go} />`
            : html`<${Step} key=${number} number=${number} engine=${engine} files=${files} route=${route} go=${go} progress=${progress} keep=${keep} live=${live} />`
          : route.view === 'room'
            ? html`<${Room} live=${live} />`
            : route.view === 'stack'
              ? html`<${Stack} live=${live} />`
              : route.view === 'saved'
                ? html`<${RealRun} run=${given.run} isOver=${true} />`
                : html`<${Turn} engine=${bench()} files=${files} name=${route.part} open=${(part: string) => go({ part })} />`
    }</main>
    <${Help} />`;
}

function Header({ route, go, seen }: { route: Route; go: Go; seen: string[] }) {
  const [isShared, setShared] = useState(false);
  const [isOnWall, putOnWall] = useWall();
  const button = (
    view: string,
    name: unknown,
    isSeen = false,
  ) => html`<button aria-current=${view === route.view ? 'step' : undefined}
    onClick=${() => go({ view, part: undefined, side: undefined, at: undefined }, true)}>${name}${isSeen && html`<em aria-label=${say('seen')}>✓</em>`}</button>`;
  async function share() {
    const url = addressOf(route);
    // A phone has a sheet for it; a window has the clipboard, where it may.
    if (navigator.share) return void navigator.share({ url }).catch(() => {});
    await navigator.clipboard?.writeText(url).catch(() => prompt(say('share'), url));
    setShared(true);
  }
  return html`<header class=${live && 'live'}>
    <h1>Lockstep</h1>
    <nav aria-label=${say('steps')}>
      <span>${lessons.map(({ stage, name }, at) => button(String(at), html`<i>${at}</i>${inLanguage(name)}`, seen.includes(stage)))}</span>
      ${views.map(([view, name]) => button(view, say(name)))}
    </nav>
    <button class="plain" aria-label=${say('help')} title=${say('help')} onClick=${() => (document.getElementById('help') as HTMLDialogElement).showModal()}>?</button>
    <button class="plain" aria-label=${say('share')} title=${say(isShared ? 'isShared' : 'share')} onClick=${share}>${isShared ? '✓' : icon('M8 10V2M5 5l3-3 3 3M3 8v6h10V8')}</button>
    <button class="plain" aria-label=${say('projector')} title=${say('projector')} aria-pressed=${isOnWall} onClick=${() => putOnWall(!isOnWall)}>${icon('M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4')}</button>
    <${LanguageButton} choose=${(lang: string) => {
      keepText('lockstep language', lang);
      go({ lang });
    }} />
  </header>`;
}

/** Drawn, because not every font has these symbols. */
const icon = (path: string) => html`<svg viewBox="0 0 16 16" aria-hidden="true"><path d=${path} /></svg>`;

/** The glossary and the keyboard shortcuts. */
const Help = () => html`<dialog id="help" aria-label=${say('help')}>
  <form method="dialog"><button aria-label=${say('close')}>✕</button></form>
  <p>${say('keys')}</p>
  ${glossary.map((word) => html`<p>${inLanguage(word)}</p>`)}
  ${report && html`<p><a href=${report.href}>${say('report')}</a></p>`}
</dialog>`;

/** Projector mode: everything is larger, and controls are hidden. It ends with full-screen mode. */
function useWall(): [boolean, (isOn: boolean) => void] {
  const [isOn, setOn] = useState(false);
  useEffect(() => {
    const hear = () => setOn(document.fullscreenElement !== null);
    addEventListener('fullscreenchange', hear);
    return () => removeEventListener('fullscreenchange', hear);
  }, []);
  document.documentElement.dataset['mode'] = isOn ? 'wall' : '';
  return [
    isOn,
    (wanted) => {
      setOn(wanted);
      // Where there is no full screen it is larger all the same.
      if (wanted) void document.documentElement.requestFullscreen?.().catch(() => {});
      else if (document.fullscreenElement) void document.exitFullscreen();
    },
  ];
}

const engine = startEngine();
/** Users' locks run in separate labs, so that they can't harm the lesson. */
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
