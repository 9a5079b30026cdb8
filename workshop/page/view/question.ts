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
      (answer, index) => html`<label>
        <input type="radio" name=${question} checked=${chosen === index} onChange=${() => choose(index)} /> ${answer}
      </label>`,
    )}
  </fieldset>`;
}
