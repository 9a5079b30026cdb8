import { describe, expect, test } from 'vitest';
import { applyMessage, nothingShown, playKey, type Shown } from '../../../live/client/state.ts';
import type { Message, VerdictView } from '../../../live/contract.ts';
import { choices, view } from './sample-view.ts';

const all = (views = [view]): Message => ({
  type: 'all',
  choices,
  state: { play: { is: 'playing', trouble: null }, controls: null, views },
});
const shown = (views = [view]): Shown => applyMessage(nothingShown, all(views), 100);
const verdict: VerdictView = { verdict: 'fail', taught: 'fail', reasons: ['It met another.'], witnesses: [] };

describe('state: a message with everything', () => {
  test('replaces all that was known', () => {
    const before = shown([view, { ...view, stage: '3-spin' }]);
    const after = applyMessage(before, all(), 200);
    expect(after.views).toEqual([{ ...view, lockSeenAtMs: 200 }]);
    expect(after.choices).toBe(choices);
    expect(after.play.is).toBe('playing');
  });
});

describe('state: a message with what has changed', () => {
  test('replaces the members that it has, and leaves the others as they are', () => {
    const story = [...view.story, { atMs: 40, text: 'It goes on.', isStep: true }];
    const after = applyMessage(shown(), { type: 'changed', views: [{ story, stock: null }] }, 200);
    expect(after.views).toEqual([{ ...view, story, stock: null, lockSeenAtMs: 100 }]);
    expect(after.play.is).toBe('playing');
  });

  test('with how the play goes alone leaves the views alone', () => {
    const before = shown();
    const after = applyMessage(before, { type: 'changed', play: { is: 'waiting', trouble: null } }, 200);
    expect(after.play.is).toBe('waiting');
    expect(after.views).toEqual(before.views);
    expect(after.views[0]).toBe(before.views[0]);
  });

  test('notes when it has seen a lock, and nothing when it says nothing of it', () => {
    const lock = { holder: 'sale 0002 on node-2', leaseMs: 1_000, leftMs: 1_000 };
    expect(applyMessage(shown(), { type: 'changed', views: [{ lock }] }, 200).views[0]).toMatchObject({
      lock,
      lockSeenAtMs: 200,
    });
    expect(applyMessage(shown(), { type: 'changed', views: [{ lock: null }] }, 200).views[0]?.lock).toBeNull();
    expect(applyMessage(shown(), { type: 'changed', views: [{}] }, 200).views[0]?.lockSeenAtMs).toBe(100);
  });

  test('goes view by view: one that is null is gone, one that is new is added', () => {
    const second = { ...view, stage: '3-spin', title: 'Stage 3 · spin' };
    const two = applyMessage(shown(), { type: 'changed', views: [{}, second] }, 200);
    expect(two.views.map(({ stage }) => stage)).toEqual(['4-ttl', '3-spin']);
    const one = applyMessage(two, { type: 'changed', views: [{}, null] }, 300);
    expect(one.views.map(({ stage }) => stage)).toEqual(['4-ttl']);
    expect(applyMessage(one, { type: 'changed', views: [null] }, 400).views).toEqual([]);
  });

  test('with some members of a view that was not there fills in the rest', () => {
    const after = applyMessage(nothingShown, { type: 'changed', views: [{ stage: '4-ttl' }] }, 200);
    expect(after.views[0]).toMatchObject({ stage: '4-ttl', parts: [], story: [], timeline: null });
  });
});

describe('state: what is taught of a drill', () => {
  test('is known when the drill has come to a verdict, and stays known', () => {
    expect(shown().taught).toEqual({});
    const judged = applyMessage(shown(), { type: 'changed', views: [{ verdict }] }, 200);
    expect(judged.taught).toEqual({ [playKey('4-ttl', 'slow-holder')]: 'fail' });
    const next = applyMessage(judged, all([{ ...view, drill: 'rush' }]), 300);
    expect(next.taught).toEqual(judged.taught);
  });
});
