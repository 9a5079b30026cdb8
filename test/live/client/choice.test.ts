import { describe, expect, test } from 'vitest';
import { chooseStage, firstChoice, stageBefore } from '../../../live/client/choice.ts';
import { choices, view } from './sample-view.ts';

describe('choice: a stage', () => {
  test('keeps the drill where the stage has it', () => {
    expect(chooseStage(choices, '4-ttl', 'rush')).toEqual({ stage: '4-ttl', drill: 'rush' });
  });

  test('takes the first drill where it has not, and none where there is none', () => {
    expect(chooseStage(choices, '4-ttl', 'crashed-holder')).toEqual({ stage: '4-ttl', drill: 'slow-holder' });
    expect(chooseStage(choices, 'no-such-stage', 'rush')).toEqual({ stage: 'no-such-stage', drill: '' });
  });
});

describe('choice: when the page opens', () => {
  test('is what is played', () => {
    expect(firstChoice(choices, [view])).toEqual({ stage: '4-ttl', drill: 'slow-holder' });
  });

  test('is the first drill of the first stage when nothing is played', () => {
    expect(firstChoice(choices, [])).toEqual({ stage: '3-spin', drill: 'crashed-holder' });
    expect(firstChoice([], [])).toEqual({ stage: '', drill: '' });
  });
});

test('choice: a drill is compared with the stage before if that has the drill too', () => {
  expect(stageBefore(choices, { stage: '4-ttl', drill: 'rush' })).toBe('3-spin');
  expect(stageBefore(choices, { stage: '4-ttl', drill: 'slow-holder' })).toBeUndefined();
  expect(stageBefore(choices, { stage: '3-spin', drill: 'rush' })).toBeUndefined();
});
