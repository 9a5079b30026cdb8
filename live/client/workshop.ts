// The workshop that runs beside the page: the exercise, its question, the verdict of the last save, and the counterexample. To be read.

import { html } from 'htm/preact';
import { texts as allTexts } from '../texts/en.ts';
import type { WorkshopStep, WorkshopView } from '../workshop-contract.ts';
import { isAtWorkshop, shown } from './store.ts';
import { verdictBox } from './verdict.ts';

const texts = allTexts.workshop;

export function WorkshopPanel({ view }: { view: WorkshopView }) {
  const { number, title, question, answers, is, verdicts, counterexample } = view;
  return html`<section class="view" aria-label=${texts.name}>
    <div class="stack scroll" tabindex="0" role="group" aria-label=${texts.title(number, title)}>
      <h2>${texts.title(number, title)}</h2>
      <p class="room-question">${question}</p>
      <ol class="story">
        ${answers.map(
          (answer, place) => html`<li class=${place === view.chosen ? 'is-newest' : ''}>
            <span class="moment">${texts.answer(place)}</span>
            <span>${answer} <strong>${texts.mark(place === view.chosen, place === view.right)}</strong></span>
          </li>`,
        )}
      </ol>
    </div>
    <div class="aside">
      <div class="aside" role="status">
        <p class="status">${texts.states[is]}</p>
        ${verdicts.map(({ drill, verdict, reason }) => verdictBox(verdict, null, [texts.reason(drill, reason)]))}
      </div>
      ${
        counterexample &&
        html`<h3>${texts.steps(counterexample.scope)}</h3>
          <ol class="scroll story" tabindex="0" aria-label=${texts.steps(counterexample.scope)}>
            ${counterexample.steps.map(
              (step: WorkshopStep) => html`<li>
                <span class="moment">${texts.at(step.at)}</span>
                <span>${texts.step(step)} <strong>${texts.came(step)}</strong></span>
              </li>`,
            )}
          </ol>`
      }
    </div>
  </section>`;
}

/** Leads to the workshop while one runs, and back to the stack. */
export function WorkshopButton() {
  if (shown.value.workshop === null) return null;
  return html`<button
    onClick=${() => {
      isAtWorkshop.value = !isAtWorkshop.value;
    }}
  >
    ${isAtWorkshop.value ? allTexts.controls.stack : texts.name}
  </button>`;
}
