// The questions of a stage as its chapter asks them, in English: each with its answers, and what is right folded away below.

import { type Question, readQuestions } from '../server/questions.ts';

const LETTERS = 'abcdefgh';

/** They are in Markdown. Throws when the stage has none. */
export function questionsOf(stage: string): string {
  const questions = readQuestions()[stage];
  if (questions === undefined) throw new Error(`There are no questions of ${stage}.`);
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
