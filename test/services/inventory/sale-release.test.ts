import { afterEach, expect, test, vi } from 'vitest';
import { createMetrics } from '../../../services/inventory/metrics.ts';
import { createReleases } from '../../../services/inventory/sale-release.ts';

afterEach(() => void vi.useRealTimers());

const silence = new Error('Socket timeout. Expecting data, but did not receive any in 1000ms.');
const refusal = Object.assign(new Error('READONLY It is a replica.'), { name: 'ReplyError' });

test.each([
  ['nothing for a lease: it is counted each time, and ends with a line in the log', silence, { tries: 3, retries: 2 }],
  ['a refusal: that is an answer', refusal, { tries: 1, retries: 0 }],
])('a release that is answered by %s', async (_what, answer, { tries, retries }) => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const [warn, metrics] = [vi.fn(), createMetrics()];
  const store = { back: async () => {} };
  const releases = createReleases(store, () => 1_000, metrics.releaseRetries, { warn });
  const release = vi.fn(async () => {
    vi.advanceTimersByTime(400);
    throw answer;
  });

  releases.giveUpUnanswered({ release, acquire: vi.fn() }, silence, new Map());
  await releases.ended();

  expect(release).toHaveBeenCalledTimes(tries);
  expect(await metrics.registry.metrics()).toMatch(new RegExp(`^lockstep_release_retries_total ${retries}$`, 'm'));
  expect(warn.mock.calls).toEqual(retries > 0 ? [[expect.stringContaining('lock was not given up')]] : []);
});
