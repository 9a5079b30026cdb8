import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { LiveState, StackView } from '../../../live/contract.ts';
import { savedName } from '../../../live/server/page-files.ts';
import { createRecorder } from '../../../live/server/recorder.ts';
import { choices, view } from '../client/sample-view.ts';

beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2026, 0, 2) }));
afterEach(() => void vi.useRealTimers());

/** Keeps what is shown of these views, one after the other, 30 ms each. */
function recorded(...shown: Partial<StackView>[][]) {
  let views: StackView[] = [];
  const read = (): LiveState => ({ play: { is: 'playing', trouble: null }, controls: null, views });
  const recorder = createRecorder({ choices, read });
  expect(recorder.run()).toBeUndefined();
  recorder.begin();
  for (const changes of shown) {
    views = changes.map((change) => ({ ...view, ...change }));
    recorder.look();
    vi.advanceTimersByTime(30);
  }
  const run = recorder.run();
  if (run === undefined) throw new Error('Nothing was kept.');
  return run;
}

const timeline = (durationMs: number): StackView['timeline'] => ({
  durationMs,
  lanes: [],
  moreLanes: 0,
  faults: [],
  overlaps: [],
});

test('recorder: its moments count from when the drill began, as the axis of the timeline does', () => {
  const { changes } = recorded([{}], [{ timeline: timeline(5) }], [{ timeline: timeline(12) }]);

  // What was seen with the least delay tells when it began: 30 - 5 ms after what was seen first.
  expect(changes.map(({ atMs }) => atMs)).toEqual([0, 5, 35]);
});

test('recorder: what is seen until the servers have started is none of it', () => {
  let state: LiveState = {
    play: { is: 'starting', trouble: null },
    controls: null,
    views: [{ ...view, drill: 'rush' }],
  };
  const recorder = createRecorder({ choices, read: () => state });
  recorder.begin();
  recorder.look();
  state = { ...state, play: { is: 'playing', trouble: null }, views: [view] };
  recorder.look();

  expect(recorder.run()?.changes.map(({ message }) => message.views?.[0]?.drill)).toEqual([view.drill]);
});

test('recorder: what has no timeline counts from what was seen first', () => {
  const { changes, playedAt } = recorded([{}], [{ stock: null }]);

  expect(changes.map(({ atMs }) => atMs)).toEqual([0, 30]);
  expect(playedAt).toBe('2026-01-02T00:00:00.000Z');
});

test('recorder: a file is named after what was played', () => {
  const two = recorded([{ stage: '3-spin' }, {}], [{ stage: '3-spin', stock: null }, {}]);
  expect(savedName(two)).toBe('lockstep-3-spin-4-ttl-slow-holder.html');
  expect(savedName(recorded([{ drill: null }]))).toBe('lockstep-4-ttl-free-play.html');
});
