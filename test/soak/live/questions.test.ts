import { describe, expect, test } from 'vitest';
import { readQuestions } from '../../../live/questions.ts';
import { stepDrills } from '../../../loadtest/drills/index.ts';
import type { StepDrill } from '../../../loadtest/harness/step-drill.ts';
import { isSo } from '../../live/answers.ts';
import { ownTargets } from '../../loadtest/drills/own-targets.ts';

const questions = readQuestions();
const atSteps = Object.entries(questions).flatMap(([stage, ofStage]) =>
  ofStage.flatMap((question) =>
    question.atStep === undefined ? [] : [{ stage, drill: question.drill, atStep: question.atStep }],
  ),
);
const drillNamed = (name: string) => stepDrills.find((drill) => drill.name === name) as StepDrill;

describe('a drill that is played now comes out as the right answer says, and as no other one', () => {
  const { run } = ownTargets(1);

  test.each([
    ['3-spin', 'crashed-holder'],
    ['7-reentrant', 'long-sale'],
    ['8-auto-renew', 'paused-process'],
  ])('%s, %s', async (stage, name) => {
    const answers = questions[stage]?.find(({ drill }) => drill === name)?.answers ?? [];

    const outcome = await run(drillNamed(name), stage, { tries: 4 });

    expect(answers.filter((answer) => isSo(answer, outcome)).map(({ isRight }) => isRight)).toEqual([true]);
  });
});

describe('a question that belongs to a step', () => {
  const { run } = ownTargets(1);

  test.each(atSteps)(
    '$stage, $drill: the drill waits at that step, once, before its answer is to be seen',
    async (one) => {
      const { stage, drill, atStep } = one;
      const told: { text: string; isStep: boolean }[] = [];
      const narrate = async (text: string, _atMs: number, isStep: boolean) => void told.push({ text, isStep });

      await run(drillNamed(drill), stage, { tries: 1, narrate });

      const isIt = ({ text }: { text: string }) => text.includes(atStep);
      expect(told.filter(isIt)).toEqual([expect.objectContaining({ isStep: true })]);
      expect(told.findIndex(isIt)).toBeLessThan(told.length - 1);
    },
  );
});
