// The drills of the chosen stage, to choose from before the first is played: what each asks, and no answer.

import { html } from 'htm/preact';
import type { StageChoice } from '../contract.ts';
import { texts } from '../texts/en.ts';
import { Code } from './code.ts';
import { choice, pickDrill } from './store.ts';

export function DrillList({ chosen }: { chosen: StageChoice | undefined }) {
  if (chosen === undefined) return null;
  return html`<section class="view is-ahead" aria-label=${chosen.title}>
    <div class="stack">
      <h2>${texts.controls.drillsOf(chosen.title)}</h2>
      <ul class="scroll drill-list" aria-label=${texts.controls.drillsOf(chosen.title)}>
        ${chosen.drills.map(
          ({ name, asks }) =>
            html`<li key=${name}>
              <button aria-pressed=${choice.value.drill === name} onClick=${() => pickDrill(name)}>
                <strong>${name}</strong> <span>${asks}</span>
              </button>
            </li>`,
        )}
      </ul>
    </div>
    <div class="aside"><${Code} choice=${chosen} /></div>
  </section>`;
}
