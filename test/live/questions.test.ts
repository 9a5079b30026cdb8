import { describe, expect, test } from 'vitest';
import { type Question, readQuestions } from '../../live/questions.ts';
import type { DrillResult } from '../../loadtest/evidence/results.ts';
import { readRecord } from '../../loadtest/figures/record.ts';
import { hasNothingToBreak, taughtVerdict } from '../../loadtest/staircase/lookup.ts';
import { stages } from '../lesson/project-files.ts';
import { isSo } from './answers.ts';

const questions = readQuestions();
const record = readRecord();
const asked = Object.entries(questions).flatMap(([stage, ofStage]) =>
  ofStage.map((question) => ({ stage, drill: question.drill, question })),
);
const rightOf = ({ answers }: Question) => answers.find(({ isRight }) => isRight) as Question['answers'][number];

describe('questions', () => {
  test('every stage has some: one about a drill that it holds, and one about a drill that it fails', () => {
    expect(Object.keys(questions)).toEqual(stages);
    for (const stage of stages.slice(1)) {
      const verdicts = questions[stage]?.map(({ drill }) => taughtVerdict(stage, drill));
      expect(verdicts).toEqual(expect.arrayContaining(['pass', 'fail']));
    }
  });

  test.each(asked)(
    '$stage, $drill: the right answer is what is taught and was measured, and no other one with a figure is',
    ({ stage, drill, question }) => {
      const cell = record.staircase?.cells.find((cell) => cell.stage === stage && cell.result.drill === drill);
      expect(cell, 'npm run figures records it').toBeDefined();
      const result = cell?.result as DrillResult;
      const others = question.answers.filter(({ isRight, figures }) => !isRight && figures !== undefined);

      expect(hasNothingToBreak(stage, drill)).toBe(false);
      expect(rightOf(question).verdict).toBe(taughtVerdict(stage, drill));
      expect(isSo(rightOf(question), result), JSON.stringify(result.figures)).toBe(true);
      expect(others.filter((answer) => isSo(answer, result)).map(({ text }) => text)).toEqual([]);
    },
  );
});
