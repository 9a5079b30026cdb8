import { expect, test } from 'vitest';
import { playedChoice } from '../../../live/client/choice.ts';
import { stageChoices } from '../../../live/server/choices.ts';

test('before anything was played the page is open at a drill that the first stage fails', () => {
  const choices = stageChoices();

  const { stage, drill } = playedChoice(choices, [{ stage: '1-in-process', drill: null }]);

  expect({ stage, drill }).toEqual({ stage: '1-in-process', drill: 'rush' });
  const chosen = choices.find(({ name }) => name === stage);
  expect(chosen?.drills.find(({ name }) => name === drill)?.taught).toBe('fail');
});
