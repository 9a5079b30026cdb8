// A question with its answers, of which one is chosen.

import { html } from 'htm/preact';

interface QuestionProps {
  question: string;
  answers: string[];
  chosen: number | undefined;
  choose(answer: number): void;
}

export function Question({ question, answers, chosen, choose }: QuestionProps) {
  return html`<fieldset>
    <legend>${question}</legend>
    ${answers.map(
      (answer, place) => html`<label>
        <input type="radio" name=${question} checked=${chosen === place} onChange=${() => choose(place)} /> <${Letter} of=${place} /> ${answer}
      </label>`,
    )}
  </fieldset>`;
}

/** The letter of the answer at this place: a room speaks of A, B and C, so the wall and the phones have the same. */
export const Letter = ({ of: place }: { of: number }) => html`<b class="letter">${'ABCD'[place]}</b>`;
