import { expect, test } from 'vitest';
import type { Both } from '../../../loadtest/narration/language.ts';
import { readExercises } from '../../../workshop/exercises/exercise.ts';
import { textsIn } from '../../../workshop/page/pack.ts';
import { exerciseOf, exercisesIn } from '../../../workshop/page/view/exercises.ts';
import { texts } from '../../../workshop/page/view/texts.ts';
import { glossary, lessons } from '../../../workshop/picture/lessons.ts';

const gaps = (text: string) => (text.match(/\{\w+\}/g) ?? []).toSorted();

/** Every pair of texts in there. */
const pairsIn = (value: unknown): Both[] => {
  if (typeof value !== 'object' || value === null) return [];
  const items = Object.values(value);
  const isPair = Array.isArray(value) && items.length === 2 && items.every((item) => typeof item === 'string');
  return isPair ? [value as unknown as Both] : items.flatMap(pairsIn);
};

test('every text is there in both languages, with the same values in it', () => {
  for (const [english, chinese] of [...pairsIn(texts), ...pairsIn(lessons), ...pairsIn(glossary)]) {
    expect(gaps(chinese), english).toEqual(gaps(english));
    expect(chinese === '', english).toBe(english === '');
    if (english !== '' && english !== texts.language[0])
      expect(`${english} ${chinese}`).toMatch(/[A-Za-z→].*(\p{Script=Han}|English)/u);
  }
});

test('Chinese has its own punctuation', () => {
  const chinese = [...pairsIn(texts), ...pairsIn(lessons), ...pairsIn(glossary)].map(([, text]) => text);
  expect(chinese.filter((text) => /\p{Script=Han}\s?[,:;?!()]|[,;?!()]\s?\p{Script=Han}/u.test(text))).toEqual([]);
});

const exerciseFiles = readExercises().flatMap(({ name }) => textsIn(`workshop/exercises/${name}`));

test('a stage has the exercise in which one writes it, if there is one', () => {
  const files = Object.fromEntries(exerciseFiles);
  expect(['0-none', '6-lua-release'].map((stage) => exerciseOf(files, stage))).toEqual([undefined, '06-lua-release']);
});

test.each(exercisesIn(Object.fromEntries(exerciseFiles)))(
  '$name: its words are there in both languages, with the same code in them',
  ({ words }) => {
    const shapeOf = ({ title, text, hints, prediction: { question, answers, explains } }: (typeof words)['en']) => ({
      isWhole: ![title, text, ...hints, question, explains].includes(''),
      code: [text, ...hints].map((each) => new Set(each.match(/```[\s\S]*?```|`[^`\n]+`/g))),
      answers: answers.map(({ text, isRight, because }) => [text !== '', isRight, because !== undefined]),
    });
    expect(shapeOf(words.zh)).toEqual(shapeOf(words.en));
    expect(words.zh.solution).toMatch(/\p{Script=Han}/u);
  },
);
