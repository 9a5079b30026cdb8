import { expect, test } from 'vitest';
import { readQuestions } from '../../live/questions.ts';
import type { Drill } from '../../loadtest/harness/drill.ts';
import { drills } from '../../loadtest/scenarios/index.ts';
import { playDrill } from '../../loadtest/virtual/play.ts';

const asked = Object.entries(readQuestions()).flatMap(([stage, questions]) =>
  questions.flatMap(({ drill, atStep }) => (atStep === undefined ? [] : [{ stage, drill, atStep }])),
);

test.each(asked)(
  '$stage, $drill: it waits at the step of its question, once, before the answer is to be seen',
  async ({ stage, drill, atStep }) => {
    const told: { text: string; isStep: boolean }[] = [];
    const narrate = async (text: string, _atMs: number, isStep: boolean) => void told.push({ text, isStep });
    await playDrill(drills.find(({ name }) => name === drill) as Drill, stage, { narrate });

    const isIt = ({ text }: { text: string }) => text.includes(atStep);
    expect(told.filter(isIt)).toEqual([expect.objectContaining({ isStep: true })]);
    expect(told.findIndex(isIt)).toBeLessThan(told.length - 1);
  },
);
