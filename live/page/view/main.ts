// Draws the page, and starts its lab.

import { html } from 'htm/preact';
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type Engine, startEngine } from './engine.ts';
import { lessons } from './lessons.ts';
import { Step } from './step.ts';
import { languages, say, speak, spoken } from './texts.ts';
import { Turn } from './turn.ts';

function Page({ engine }: { engine: Engine }) {
  const [files, setFiles] = useState<Record<string, string>>();
  const [language, setLanguage] = useState(spoken());
  /** The step of the lesson; after the last comes one's own turn. */
  const [number, setNumber] = useState(0);
  useEffect(() => void engine.files.then(setFiles), [engine]);
  speak(language);
  document.title = say('title');
  const other = languages.find((each) => each !== language) ?? 'en';
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
        <button aria-current=${lesson ? undefined : 'step'} onClick=${() => go(lessons.length)}>${say('turn')}</button>
      </nav>
      <button lang=${other === 'zh' ? 'zh-CN' : 'en'} onClick=${() => setLanguage(other)}>${say('language')}</button>
    </header>
    <main>
      ${
        files === undefined
          ? html`<p>${say('loading')}</p>`
          : lesson
            ? html`<${Step} key=${lesson.stage} lesson=${lesson} engine=${engine} files=${files} onNext=${() => go(number + 1)} />`
            : html`<${Turn} engine=${bench()} files=${files} />`
      }
    </main>
    <footer><small>${say('keys')}</small></footer>`;
}

const engine = startEngine();
/** Locks of one's own are played in a lab of their own: whatever they do to it, the lesson is as it was. */
let benchEngine: Engine | undefined;
function bench() {
  benchEngine ??= startEngine();
  return benchEngine;
}
// For whoever plays a cell from the console.
Object.assign(globalThis, { lockstep: engine });
render(html`<${Page} engine=${engine} />`, document.body);
