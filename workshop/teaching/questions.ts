// The questions of a stage as its chapter asks them: each with its answers, and what is right folded away below.

import { type Question, readQuestions } from '../server/questions.ts';

const PART = /<!-- questions: (\S+) -->.*?<!-- \/questions -->/gs;
const LETTERS = 'abcdefgh';

/** The chapter with the questions that it names in comments. What stands between the comments is made anew. */
export function withQuestions(chapter: string): string {
  const questions = readQuestions();
  return chapter.replace(PART, (_, stage: string) => {
    const own = questions[stage];
    if (own === undefined) throw new Error(`There are no questions of ${stage}.`);
    return `<!-- questions: ${stage} -->\n\n${shown(own)}\n\n<!-- /questions -->`;
  });
}

/** Questions in Markdown. */
function shown(questions: Question[]): string {
  return questions
    .map(({ question, answers, explains }, at) => {
      const letter = (answer: Question['answers'][number]) => LETTERS[answers.indexOf(answer)];
      const right = answers.filter(({ isRight }) => isRight).map(letter);
      const wrong = answers.filter(({ isRight }) => !isRight);
      return [
        `${questions.length > 1 ? `**Question ${at + 1}.** ` : '**Question.** '}${question}`,
        answers.map((answer) => `- **${letter(answer)}** ${answer.text}`).join('\n'),
        '<details>\n<summary>The answer</summary>',
        `**${right.join(', ')}** is right. ${explains}`,
        wrong.map((answer) => `- **${letter(answer)}** is wrong. ${answer.because}`).join('\n'),
        '</details>',
      ].join('\n\n');
    })
    .join('\n\n');
}
