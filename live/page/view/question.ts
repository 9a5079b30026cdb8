// A question with its answers, of which one is chosen.

import { html } from 'htm/preact';

interface QuestionProps {
  question: string;
  answers: string[];
  chosen: number | undefined;
  choose(answer: number): void;
  lang?: string;
}

export function Question({ question, answers, chosen, choose, lang }: QuestionProps) {
  return html`<fieldset lang=${lang}>
    <legend>${question}</legend>
    ${answers.map(
      (answer, index) => html`<label>
        <input type="radio" name=${question} checked=${chosen === index} onChange=${() => choose(index)} /> ${answer}
      </label>`,
    )}
  </fieldset>`;
}
