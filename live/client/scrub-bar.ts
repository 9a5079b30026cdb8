// The bar over a saved run: its moments from left to right, with what was broken on it.

import { html } from 'htm/preact';
import { savedTexts } from '../texts/en.ts';
import { faults, goTo, heading, isCut, isPlaying, lengthMs, playedAt, turnPlaying } from './saved-run.ts';
import { moment } from './store.ts';

/** The width of the drawing of the marks, in its own units. */
const WIDTH = 1_000;

export function ScrubBar() {
  const total = lengthMs();
  const marks = faults();
  const words = savedTexts.moment(moment.value, total);
  return html`<header class="saved" aria-label=${savedTexts.name}>
    <h1>${heading()}</h1>
    <p>${savedTexts.played(playedAt())}</p>
    <button onClick=${turnPlaying}>${isPlaying.value ? savedTexts.pause : savedTexts.play}</button>
    <div class="scrub">
      <input
        type="range"
        min="0"
        max=${total}
        step="50"
        value=${moment.value}
        aria-label=${savedTexts.scrub}
        aria-valuetext=${words}
        onInput=${(event: Event) => goTo(Number((event.currentTarget as HTMLInputElement).value))}
      />
      <svg viewBox=${`0 0 ${WIDTH} 12`} preserveAspectRatio="none" role="img" aria-label=${marks.map(({ label }) => label).join(', ')}>
        ${marks.map(({ atMs, label }) => html`<rect key=${`${atMs} ${label}`} x=${(atMs / total) * WIDTH - 2} width="4" height="12"><title>${label}</title></rect>`)}
      </svg>
    </div>
    <output>${words}</output>
    ${isCut() && html`<p>${savedTexts.cut}</p>`}
  </header>`;
}
