import { expect, test } from 'vitest';
import { applyMessage, nothingShown, playKey, type Shown } from '../../../live/client/state.ts';
import type { Message, VerdictView } from '../../../live/contract.ts';
import { choices, view } from './sample-view.ts';

const all = (views = [view]): Message => ({
  type: 'all',
  choices,
  state: { play: { is: 'playing', trouble: null }, controls: null, views },
});
const shown = (views = [view]): Shown => applyMessage(nothingShown, all(views), 100);

test('state: a message with everything replaces all that was known', () => {
  const after = applyMessage(shown([view, { ...view, stage: '3-spin' }]), all(), 200);

  expect(after).toMatchObject({ views: [{ ...view, lockSeenAtMs: 200 }], choices, play: { is: 'playing' } });
});

test('state: a message with what has changed replaces those members, and leaves the others as they are', () => {
  const story = [...view.story, { atMs: 40, text: 'It goes on.', isStep: true }];
  const after = applyMessage(shown(), { type: 'changed', views: [{ story, stock: null }] }, 200);
  expect(after.views).toEqual([{ ...view, story, stock: null, lockSeenAtMs: 100 }]);

  const waits = applyMessage(after, { type: 'changed', play: { is: 'waiting', trouble: null } }, 300);
  expect(waits).toMatchObject({ play: { is: 'waiting' }, views: after.views });
});

test('state: a view that is null is gone, one that is new is added, and its missing members are filled in', () => {
  const two = applyMessage(shown(), { type: 'changed', views: [{}, { stage: '3-spin' }] }, 200);
  expect(two.views[1]).toMatchObject({ stage: '3-spin', parts: [], story: [], timeline: null });

  const one = applyMessage(two, { type: 'changed', views: [{}, null] }, 300);
  expect(one.views.map(({ stage }) => stage)).toEqual(['4-ttl']);
});

test('state: what is taught of a drill is known when it has come to a verdict, and stays known', () => {
  const verdict: VerdictView = { verdict: 'fail', taught: 'fail', reasons: ['It met another.'], witnesses: [] };
  expect(shown().taught).toEqual({});

  const judged = applyMessage(shown(), { type: 'changed', views: [{ verdict }] }, 200);
  expect(judged.taught).toEqual({ [playKey('4-ttl', 'slow-holder')]: 'fail' });
  expect(applyMessage(judged, all([{ ...view, drill: 'rush' }]), 300).taught).toEqual(judged.taught);
});
