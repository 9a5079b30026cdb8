import { expect, test } from 'vitest';
import { stageDiff } from '../../scripts/diff.ts';
import { readQuestions, shown, withQuestions } from '../../scripts/questions.ts';
import { list, readText, stages } from './project-files.ts';

const chapters = stages.slice(1).map((stage) => `docs/stages/${stage}.md`);

test.each(chapters)('%s: has one diff block, which is the diff of its stage word for word', (chapter) => {
  const blocks = [...readText(chapter).matchAll(/^```diff\n(.*?)^```$/gms)].map(([, diff]) => diff);

  // `npm run diff -- --write` brings the chapters up to date.
  expect(blocks).toEqual([stageDiff(chapters.indexOf(chapter) + 1)]);
});

test.each(chapters)('%s: asks the questions of its stage as they are, each with its answer folded', (chapter) => {
  const text = readText(chapter);
  const asked = [...text.matchAll(/<!-- questions: (\S+) -->/g)].map(([, stage]) => stage);
  const stage = stages[chapters.indexOf(chapter) + 1] as string;

  // Stage 0 has no chapter of its own.
  expect(asked).toEqual(stage.startsWith('1-') ? ['0-none', stage] : [stage]);
  for (const each of asked) expect(text).toContain(`\n\n${shown(readQuestions(each as string))}\n\n`);
  // `npm run diff -- --write` brings the chapters up to date.
  expect(withQuestions(text)).toBe(text);
});

const allChapters = [
  ...chapters,
  ...['docs/beyond', 'docs/orders'].flatMap((folder) => list(folder).map((file) => `${folder}/${file}`)),
];

test.each(allChapters)('%s: asks for a prediction, folds every answer, and asks before it shows', (chapter) => {
  const text = readText(chapter);
  const [, predict = ''] = /^## Predict\n(.*?)^## /ms.exec(text) ?? [];
  const folded = [...predict.matchAll(/^<details>\n<summary>The answers?<\/summary>\n\n(.*?)^<\/details>$/gms)];
  const open = predict.replace(/^<details>.*?^<\/details>$/gms, '');

  expect(folded.length).toBeGreaterThan(0);
  expect(open).not.toMatch(/ is right\.| is wrong\./);
  const list = (part: string) => part.match(/^\d+\. /gm)?.length ?? 0;
  // Numbered questions have numbered answers below, as many.
  if (list(open) > 0) expect(folded.map(([, part = '']) => list(part))).toContain(list(open));
  expect(text.indexOf('## Predict')).toBeLessThan(text.search(/^## (What you should see|Run)/m));
});

test('questions: the right answer is named by its letter, and each wrong one says why', () => {
  const text = shown([
    {
      question: 'Which?',
      answers: [
        { text: 'This.', because: 'It is not.' },
        { text: 'That.', isRight: true },
      ],
      explains: 'So it is.',
    },
  ]);

  expect(text).toMatch(/^\*\*Question\.\*\* Which\?\n\n- \*\*a\*\* This\.\n- \*\*b\*\* That\.\n\n<details>/);
  expect(text).toContain('**b** is right. So it is.\n\n- **a** is wrong. It is not.');
});

test('questions: what stands in a chapter and is not what is asked is made anew', () => {
  const chapter = '<!-- questions: 4-ttl -->\n\nold\n\n<!-- /questions -->\n';

  expect(withQuestions(chapter)).toBe(
    `<!-- questions: 4-ttl -->\n\n${shown(readQuestions('4-ttl'))}\n\n<!-- /questions -->\n`,
  );
});
