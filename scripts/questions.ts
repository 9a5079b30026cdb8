// The questions of a stage as its chapter asks them: each with its answers, and what is right folded away below.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectDir } from './stack/parts.ts';

/** A question of `docs/stages/<stage>.predict.json`, as far as a chapter shows it. */
export interface Asked {
  question: string;
  answers: { text: string; because?: string; isRight?: boolean }[];
  explains: string;
}

const PART = /<!-- questions: (\S+) -->.*?<!-- \/questions -->/gs;
const LETTERS = 'abcdefgh';

/** The chapter with the questions that it names in comments. What stands between the comments is made anew. */
export function withQuestions(chapter: string): string {
  return chapter.replace(
    PART,
    (_, stage: string) => `<!-- questions: ${stage} -->\n\n${shown(readQuestions(stage))}\n\n<!-- /questions -->`,
  );
}

/** The questions of a stage, in their order. */
export function readQuestions(stage: string): Asked[] {
  return JSON.parse(readFileSync(join(projectDir, `docs/stages/${stage}.predict.json`), 'utf8'));
}

/** Questions in Markdown. */
export function shown(questions: Asked[]): string {
  return questions
    .map(({ question, answers, explains }, at) => {
      const letter = (answer: Asked['answers'][number]) => LETTERS[answers.indexOf(answer)];
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
