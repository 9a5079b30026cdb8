// Draws the page, and starts its lab.

import { html } from 'htm/preact';
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Ready } from '../worker.ts';
import { type Engine, startEngine } from './engine.ts';
import { Scoreboard } from './scoreboard.ts';
import { languages, say, speak, spoken } from './texts.ts';

function Page({ engine }: { engine: Engine }) {
  const [ready, setReady] = useState<Ready>();
  const [language, setLanguage] = useState(spoken());
  speak(language);
  useEffect(() => void engine.ready.then(setReady), [engine]);
  const other = languages.find((each) => each !== language) ?? 'en';
  return html`<header>
      <h1>${say('title')}</h1>
      <button lang=${other} onClick=${() => setLanguage(other)}>${say('language')}</button>
    </header>
    <main>${ready ? html`<${Scoreboard} engine=${engine} ...${ready} />` : html`<p>${say('loading')}</p>`}</main>`;
}

const engine = startEngine();
// For whoever plays a cell from the console.
Object.assign(globalThis, { lockstep: engine });
render(html`<${Page} engine=${engine} />`, document.body);
