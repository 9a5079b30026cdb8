// What the page shows of a real rush, compared with what came out. What it shows of drills: npm test.

import { describe, expect, test } from 'vitest';
import { observeTarget } from '../../../../live/server/observed-target.ts';
import { type SeenStack, type Watch, watchStack } from '../../../../live/server/watch.ts';
import { rush } from '../../../../loadtest/drills/rush.ts';
import type { RushFigures } from '../../../../loadtest/evidence/results.ts';
import type { Target } from '../../../../loadtest/harness/target.ts';
import { ownTargets } from '../../../loadtest/drills/own-targets.ts';
import { until } from '../../../services/inventory/node-under-test.ts';

const { use } = ownTargets(1);

/** Watches a stack while `act` does something to it, and keeps each view of it, with its time. */
const watching = <T>(stage: string, act: (seen: { target: Target; watch: Watch }) => Promise<T>) =>
  use(async (given) => {
    const closing = new AbortController();
    const views: SeenStack[] = [];
    const times: number[] = [];
    let watch: Watch | undefined;
    const observed = observeTarget(given, () => watch?.changed());
    const { target } = observed;
    const onChange = () => {
      if (watch === undefined) return;
      views.push(watch.view());
      times.push(performance.now());
    };
    watch = watchStack({ target, observed, stage, signal: closing.signal, onChange });
    try {
      return { result: await act({ target, watch }), watch, views, times };
    } finally {
      closing.abort();
    }
  });

/** A rush, watched until its figures are all there. */
const watchRush = (stage: string) =>
  watching(stage, async ({ target, watch }) => {
    const outcome = await rush.run({
      target,
      stage,
      settings: { requests: 400, units: 100, connections: 40, stock: 1_000, leaseMs: 1_000 },
      signal: new AbortController().signal,
      onProgress() {},
      narrate: async () => {},
      observe: watch.observe,
    });
    const figures = outcome.figures as RushFigures;
    await until('all is counted', () => watch.view().figures?.sold === figures.sold);
    // The drill has deleted its stock: what lay in buckets was last seen before that.
    watch.ended(outcome);
    return { outcome, figures, seen: watch.view() };
  });

describe('a rush', () => {
  test.each(['6-lua-release', 'buckets', 'redis-atomic'])(
    'under %s: every sale is counted, nothing seems lost at any moment, and news come ten times a second at most',
    async (stage) => {
      const { result, views, times } = await watchRush(stage);
      const { outcome, figures, seen } = result;

      expect(outcome.verdict).toBe('pass');
      expect(seen.figures).toMatchObject({ sold: 400, refused: 0, inDoubt: figures.inDoubt });
      expect(seen.stock).toEqual({ actual: figures.finalStock, expected: figures.expectedStock });
      expect(views.filter(({ figures }) => figures?.underWay).length).toBeGreaterThan(0);
      expect(views.filter(({ figures }) => figures?.lost)).toEqual([]);
      expect(times.length).toBeLessThanOrEqual(((times.at(-1) ?? 0) - (times[0] ?? 0)) / 100 + 2);
    },
  );

  test('under 0-none: what is lost is lost in the view, while the rush goes on and after it', async () => {
    const { result, views } = await watchRush('0-none');
    const { figures, seen: atEnd } = result;

    const early = views.filter(({ figures: seen }) => (seen?.lost ?? 0) > 0 && (seen?.sold ?? 0) < figures.sold);
    expect(early.length).toBeGreaterThan(0);
    for (const { stock, figures: seen } of early)
      expect((seen?.lost ?? 0) + (seen?.underWay ?? 0)).toBe((stock?.actual ?? 0) - (stock?.expected ?? 0));
    expect(atEnd.figures?.lost).toBe(figures.lostUpdates);
  });
});
