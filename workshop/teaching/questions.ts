// The first question of a stage as its chapter asks it, in English: with its answers, and what is right folded away below.

import { type Question, readQuestions } from '../server/questions.ts';

const LETTERS = 'abcdefgh';

/** It is in Markdown. Throws when the stage has none. The page that a presenter shows asks the others. */
export function questionsOf(stage: string): string {
  const [first, ...others] = readQuestions()[stage] ?? [];
  if (first === undefined) throw new Error(`There are no questions of ${stage}.`);
  const {
    question: [question],
    answers,
    explains: [explains],
  } = first;
  const letter = (answer: Question['answers'][number]) => LETTERS[answers.indexOf(answer)];
  const right = answers.filter(({ isRight }) => isRight).map(letter);
  const wrong = answers.filter(({ isRight }) => !isRight);
  return [
    `**Question.** ${question}`,
    answers.map((answer) => `- **${letter(answer)}** ${answer.text[0]}`).join('\n'),
    '<details>\n<summary>The answer</summary>',
    `**${right.join(', ')}** is right. ${explains}`,
    wrong.map((answer) => `- **${letter(answer)}** is wrong. ${answer.because?.[0]}`).join('\n'),
    '</details>',
    ...(others.length > 0 ? ['More questions: `npm run live`.'] : []),
  ].join('\n\n');
}
