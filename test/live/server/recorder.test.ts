import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { LiveState, StackView } from '../../../live/contract.ts';
import { createRecorder } from '../../../live/server/recorder.ts';
import { choices, view } from '../client/sample-view.ts';

beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2026, 0, 2) }));
afterEach(() => void vi.useRealTimers());

/** Keeps what is shown of these views, one after the other, 30 ms each. What is seen until the servers have started is none of it. */
function recorded(...shown: Partial<StackView>[][]) {
  const state: LiveState = {
    play: { is: 'starting', trouble: null },
    controls: null,
    views: [{ ...view, drill: 'rush' }],
  };
  const recorder = createRecorder({ choices, read: () => ({ ...state }) });
  recorder.begin();
  recorder.look();
  state.play = { is: 'playing', trouble: null };
  for (const changes of shown) {
    state.views = changes.map((change) => ({ ...view, ...change }));
    recorder.look();
    vi.advanceTimersByTime(30);
  }
  const run = recorder.run();
  if (run === undefined) throw new Error('Nothing was kept.');
  return run;
}

test('recorder: its moments count from when the drill began, as the axis of the timeline does', () => {
  const timeline = (durationMs: number) => ({ durationMs, lanes: [], moreLanes: 0, faults: [], overlaps: [] });
  const { changes } = recorded([{}], [{ timeline: timeline(5) }], [{ timeline: timeline(12) }]);

  expect(changes[0]?.message.views?.[0]?.drill).toBe(view.drill);
  // What was seen with the least delay tells when it began: 30 - 5 ms after what was seen first.
  expect(changes.map(({ atMs }) => atMs)).toEqual([0, 5, 35]);
});
