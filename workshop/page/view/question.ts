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
    ${answers.map((answer, index) => {
      const is = right === index ? ' right' : chosen === index && right !== undefined ? ' wrong' : '';
      return html`<label class=${`answer${is}`}>
        <input type="radio" name=${question} checked=${chosen === index} disabled=${right !== undefined} onChange=${() => choose(index)} />
        <kbd>${index + 1}</kbd> <span>${answer}</span>
      </label>`;
    })}
  </fieldset>`;
}
