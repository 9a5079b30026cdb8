// A question with its answers, one of which can be chosen.

import { html } from 'htm/preact';

interface QuestionProps {
  question: string;
  answers: string[];
  chosen: number | undefined;
  /** The right answer, once it may be shown: from then on the choice is fixed. */
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

/** The number of an answer, the same on the screen and on the phones. Letters are the buyers' names. */
export const Mark = ({ of: place }: { of: number }) => html`<kbd>${place + 1}</kbd>`;
