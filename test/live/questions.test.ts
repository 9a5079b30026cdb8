import { describe, expect, test } from 'vitest';
import { type Question, questionsDir, readQuestions } from '../../live/questions.ts';
import type { DrillResult } from '../../loadtest/evidence/results.ts';
import { readRecord } from '../../loadtest/figures/record.ts';
import { hasNothingToBreak, taughtVerdict } from '../../loadtest/staircase/lookup.ts';
import { list, stages } from '../lesson/project-files.ts';
import { isSo } from './answers.ts';

const questions = readQuestions();
const record = readRecord();
const asked = Object.entries(questions).flatMap(([stage, ofStage]) =>
  ofStage.map((question) => ({ stage, drill: question.drill, question })),
);
const rightOf = ({ answers }: Question) => answers.find(({ isRight }) => isRight) as Question['answers'][number];

/** What a drill gave under a stage when the figures of the documents were recorded. */
const recorded = (stage: string, drill: string) =>
  record.staircase?.cells.find((cell) => cell.stage === stage && cell.result.drill === drill)?.result;

describe('questions', () => {
  test('every stage has some, in a file under its name', () => {
    expect(Object.keys(questions)).toEqual(stages);
    expect(list(questionsDir).filter((file) => file.endsWith('.json'))).toEqual(
      stages.map((stage) => `${stage}.predict.json`),
    );
  });

  test.each(stages.slice(1))('%s: one is about a drill that it holds, and one about a drill that it fails', (stage) => {
    const verdicts = questions[stage]?.map(({ drill }) => taughtVerdict(stage, drill));

    expect(verdicts).toContain('pass');
    expect(verdicts).toContain('fail');
  });

  test.each(asked)('$stage, $drill: the right answer is what the staircase teaches', ({ stage, drill, question }) => {
    expect(hasNothingToBreak(stage, drill)).toBe(false);
    expect(rightOf(question).verdict).toBe(taughtVerdict(stage, drill));
  });

  test.each(asked)('$stage, $drill: the right answer is what was measured', ({ stage, drill, question }) => {
    const result = recorded(stage, drill);

    expect(result, 'npm run figures records it').toBeDefined();
    expect(isSo(rightOf(question), result as DrillResult), JSON.stringify(result?.figures)).toBe(true);
  });

  test.each(asked)('$stage, $drill: no other answer that names a figure is so', ({ stage, drill, question }) => {
    const result = recorded(stage, drill) as DrillResult;
    const others = question.answers.filter(({ isRight, figures }) => !isRight && figures !== undefined);

    expect(others.filter((answer) => isSo(answer, result)).map(({ text }) => text)).toEqual([]);
  });

  test('an answer of the right verdict without a figure says something else than the measurement could', () => {
    const open = asked.flatMap(({ stage, drill, question }) =>
      question.answers
        .filter(({ isRight, verdict, figures }) => !isRight && !figures && verdict === rightOf(question).verdict)
        .map(({ text }) => `${stage} ${drill}: ${text}`),
    );

    // What an answer of these says, no drill measures: it is read in the chapter.
    expect(open).toEqual([
      '5-owner-check slow-holder: Nothing, and the slow sale is told that it has sold, as if it had been alone.',
      '6-lua-release late-release: It could not come late: Redis waits for a script.',
    ]);
  });

  test('the right answer is not always in the same place', () => {
    const places = asked.map(({ question }) => question.answers.findIndex(({ isRight }) => isRight));

    for (const place of [0, 1, 2])
      expect(places.filter((one) => one === place).length).toBeGreaterThan(asked.length / 8);
  });
});

test('questions that belong to a step: some drills of stages 4 and 5 have one', () => {
  const atSteps = asked.filter(({ question }) => question.atStep !== undefined);

  expect(atSteps.map(({ stage, drill }) => `${stage} ${drill}`)).toEqual(
    expect.arrayContaining(['4-ttl slow-holder', '5-owner-check late-release']),
  );
});
