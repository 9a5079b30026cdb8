import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { LiveState, StackView } from '../../../live/contract.ts';
import { savedName } from '../../../live/server/page-files.ts';
import { createRecorder } from '../../../live/server/recorder.ts';
import { choices, view } from '../client/sample-view.ts';

/** Keeps what is shown of these views, one after the other, 30 ms each. */
async function recorded(...shown: Partial<StackView>[][]) {
  let views: StackView[] = [];
  const read = (): LiveState => ({ play: { is: 'playing', trouble: null }, controls: null, views });
  const recorder = createRecorder({ choices, read });
  expect(recorder.run()).toBeUndefined();
  recorder.begin();
  for (const changes of shown) {
    views = changes.map((change) => ({ ...view, ...change }));
    recorder.look();
    await sleep(30);
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

test('recorder: its moments count from when the drill began, as the axis of the timeline does', async () => {
  const { changes } = await recorded([{}], [{ timeline: timeline(5) }], [{ timeline: timeline(12) }]);

  expect(changes).toHaveLength(3);
  expect(changes.map(({ atMs }) => atMs)[0]).toBe(0);
  // What was seen with the least delay tells when it began.
  const lags = changes.slice(1).map(({ atMs, message }) => atMs - (message.views?.[0]?.timeline?.durationMs ?? 0));
  expect(Math.min(...lags)).toBe(0);
});

test('recorder: what has no timeline counts from what was seen first', async () => {
  const { changes, playedAt } = await recorded([{}], [{ stock: null }]);
  expect(changes.map(({ atMs }) => atMs)).toEqual([0, expect.any(Number)]);
  expect(changes[1]?.atMs).toBeGreaterThanOrEqual(25);
  expect(Math.abs(Date.now() - Date.parse(playedAt))).toBeLessThan(60_000);
});

test('recorder: a file is named after what was played', async () => {
  const two = await recorded([{ stage: '3-spin' }, {}], [{ stage: '3-spin', stock: null }, {}]);
  expect(savedName(two)).toBe('lockstep-3-spin-4-ttl-slow-holder.html');
  expect(savedName(await recorded([{ drill: null }]))).toBe('lockstep-4-ttl-free-play.html');
});
