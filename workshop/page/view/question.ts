// A question with its answers, of which one is chosen.

import { html } from 'htm/preact';

interface QuestionProps {
  question: string;
  answers: string[];
  chosen: number | undefined;
  /** Which one is right, when that may be seen: from then on no other one can be chosen. */
  right?: number | undefined;
  choose(answer: number): void;
}

export function Question({ question, answers, chosen, right, choose }: QuestionProps) {
  return html`<fieldset class=${right === undefined ? 'question' : 'question answered'}>
    <legend>${question}</legend>
    ${answers.map((answer, place) => {
      const is = right === place ? ' right' : chosen === place && right !== undefined ? ' wrong' : '';
      return html`<label class=${`answer${is}`}>
        <input type="radio" name=${question} checked=${chosen === place} disabled=${right !== undefined} onChange=${() => choose(place)} />
        <${Mark} of=${place} /> <span>${answer}</span>
      </label>`;
    })}
  </fieldset>`;
}

/** The number of the answer at this place, the same on the wall and on the phones. Letters are the names of buyers. */
export const Mark = ({ of: place }: { of: number }) => html`<kbd>${place + 1}</kbd>`;
