import { describe, expect, test } from 'vitest';
import type { Drill } from '../../../loadtest/harness/drill.ts';
import { drills } from '../../../loadtest/scenarios/index.ts';
import { hasNothingToBreak, verdictExpected } from '../../../loadtest/staircase/lookup.ts';
import { playDrill } from '../../../loadtest/worlds/simulated/play.ts';
import { type Question, readQuestions } from '../../../workshop/server/questions.ts';
import { createRoom } from '../../../workshop/server/room.ts';
import { playChoices } from '../../../workshop/server/scenarios.ts';
import { stages } from '../../lesson/project-files.ts';
import { isSo } from '../answers.ts';

const questions = readQuestions();
const asked = Object.entries(questions).flatMap(([stage, ofStage]) =>
  ofStage.map((question) => ({ stage, drill: question.drill, question })),
);
const drillNamed = (name: string) => drills.find((drill) => drill.name === name) as Drill;
const rightOf = ({ answers }: Question) => answers.find(({ isRight }) => isRight) as Question['answers'][number];
/** The load that the questions speak of. So few buyers at a time show the same, and sooner. */
const settings = { requests: 2_000, connections: 10, stock: 5_000, units: 1_000 };

describe('questions', () => {
  test('every stage has some: one about a drill that it holds, and one about a drill that it fails', () => {
    expect(Object.keys(questions)).toEqual(stages);
    for (const stage of stages.slice(1)) {
      const verdicts = questions[stage]?.map(({ drill }) => verdictExpected(stage, drill));
      expect(verdicts).toEqual(expect.arrayContaining(['pass', 'fail']));
    }
  });

  test.each(asked)(
    '$stage, $drill: the page offers it where the drill is chosen, and serves it in both languages',
    ({ stage, drill, question }) => {
      const choice = playChoices(questions).find((each) => each.stage === stage);
      expect(choice?.drills).toContain(drill);
      expect(choice?.asked).toContain(drill);

      const room = createRoom({ questions, onChange() {} });
      room.command({ do: 'ask', stage, drill });
      room.command({ do: 'reveal' });
      const { question: asked, answers, explains } = room.forFollowers().question ?? {};
      expect([asked, explains]).toEqual([question.question, question.explains]);
      expect(answers?.map(({ text, because }) => [text, because])).toEqual(
        question.answers.map(({ text, because = null }) => [text, because]),
      );
    },
  );

  test.each(asked)(
    '$stage, $drill: the right answer is what is expected, and so in virtual time, and no other one with a figure is',
    async ({ stage, drill: name, question }) => {
      expect(hasNothingToBreak(stage, name)).toBe(false);
      expect(rightOf(question).verdict).toBe(verdictExpected(stage, name));
      // What waiting costs in memory shows on real nodes alone.
      if (name === 'long-wait') return;
      const { outcome } = await playDrill(drillNamed(name), stage, { settings });
      const others = question.answers.filter(({ isRight, figures }) => !isRight && figures !== undefined);

      expect(isSo(rightOf(question), outcome), JSON.stringify(outcome.figures)).toBe(true);
      expect(others.filter((answer) => isSo(answer, outcome)).map(({ text }) => text)).toEqual([]);
    },
  );
});
