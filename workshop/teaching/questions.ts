// A stage's questions for its chapter, in English: each with its choices, and the answer folded away below.

import { type Question, readQuestions } from '../server/questions.ts';

const LETTERS = 'abcdefgh';

/** As Markdown. Throws if the stage has none. */
export function questionsOf(stage: string): string {
  const questions = readQuestions()[stage];
  if (questions === undefined) throw new Error(`There are no questions for ${stage}.`);
  return questions
    .map(({ question: [question], answers, explains: [explains] }, at) => {
      const letter = (answer: Question['answers'][number]) => LETTERS[answers.indexOf(answer)];
      const right = answers.filter(({ isRight }) => isRight).map(letter);
      const wrong = answers.filter(({ isRight }) => !isRight);
      return [
        `${questions.length > 1 ? `**Question ${at + 1}.** ` : '**Question.** '}${question}`,
        answers.map((answer) => `- **${letter(answer)}** ${answer.text[0]}`).join('\n'),
        '<details>\n<summary>The answer</summary>',
        `**${right.join(', ')}** is right. ${explains}`,
        wrong.map((answer) => `- **${letter(answer)}** is wrong. ${answer.because?.[0]}`).join('\n'),
        '</details>',
      ].join('\n\n');
    })
    .join('\n\n');
}
