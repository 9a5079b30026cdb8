// A stage's first question for its chapter, in English: with its choices, and the answer folded away below.

import { type Question, readQuestions } from '../server/questions.ts';

const LETTERS = 'abcdefgh';

/** As Markdown. Throws if the stage has none. The presenter's page asks the others. */
export function questionsOf(stage: string): string {
  const [first, ...others] = readQuestions()[stage] ?? [];
  if (first === undefined) throw new Error(`There are no questions for ${stage}.`);
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
