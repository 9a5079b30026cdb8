import { describe, expect, test } from 'vitest';
import { chooseStage, playedChoice, stageBefore } from '../../../live/client/choice.ts';
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

describe('choice: of what is played', () => {
  test('is its stage and its drill', () => {
    expect(playedChoice(choices, [view])).toEqual({ stage: '4-ttl', drill: 'slow-holder' });
    expect(playedChoice(choices, [{ stage: 'no-such-stage', drill: 'rush' }, view]).stage).toBe('4-ttl');
  });

  test('is the later one of two stages side by side', () => {
    const [before, after] = [
      { stage: '3-spin', drill: 'rush' },
      { stage: '4-ttl', drill: 'rush' },
    ];
    expect(playedChoice(choices, [before, after])).toEqual(after);
    expect(playedChoice(choices, [after, before])).toEqual(after);
  });

  test('is the first drill of the first stage when nothing is played', () => {
    expect(playedChoice(choices, [])).toEqual({ stage: '3-spin', drill: 'crashed-holder' });
    expect(playedChoice([], [])).toEqual({ stage: '', drill: '' });
  });
});

test('choice: a drill is compared with the stage before if that has the drill too', () => {
  expect(stageBefore(choices, { stage: '4-ttl', drill: 'rush' })).toBe('3-spin');
  expect(stageBefore(choices, { stage: '4-ttl', drill: 'slow-holder' })).toBeUndefined();
  expect(stageBefore(choices, { stage: '3-spin', drill: 'rush' })).toBeUndefined();
});
