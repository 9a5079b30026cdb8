import { expect, test } from 'vitest';
import type { Line, Part } from '../../../../live/contract.ts';
import { observeTarget } from '../../../../live/server/observed-target.ts';
import { type SeenStack, type Watch, watchStack } from '../../../../live/server/watch.ts';
import { crashedHolder } from '../../../../loadtest/drills/crashed-holder.ts';
import { lateRelease } from '../../../../loadtest/drills/late-release.ts';
import { pausedProcess } from '../../../../loadtest/drills/paused-process.ts';
import { rush } from '../../../../loadtest/drills/rush.ts';
import { sellOut } from '../../../../loadtest/drills/sell-out.ts';
import type { RushFigures } from '../../../../loadtest/evidence/results.ts';
import type { Drill } from '../../../../loadtest/harness/drill.ts';
import { runStepDrill, type StepDrill } from '../../../../loadtest/harness/step-drill.ts';
import type { Target } from '../../../../loadtest/harness/target.ts';
import { taughtVerdict } from '../../../../loadtest/staircase/lookup.ts';
import { ownTargets } from '../../../loadtest/drills/own-targets.ts';
import { until } from '../../../services/inventory/node-under-test.ts';

/** Long enough that what is seen ten times a second is seen within a lease, however busy the machine is. */
const LEASE_MS = 2_000;

const broken = ownTargets(1);
const loaded = ownTargets(1, [], { forDrills: false });

/** Watches a stack while `act` does something to it, and keeps each view of it. */
async function watching<T>(
  target: Target,
  stage: string,
  act: (seen: { target: Target; watch: Watch; views: SeenStack[] }) => Promise<T>,
) {
  const closing = new AbortController();
  const views: SeenStack[] = [];
  const times: number[] = [];
  const parts: Part[][] = [];
  const lines: Line[][] = [];
  let watch: Watch | undefined;
  const observed = observeTarget(target, () => {
    parts.push(observed.parts());
    lines.push(observed.lines());
    watch?.changed();
  });
  const watched = watchStack({
    target: observed.target,
    observed,
    stage,
    signal: closing.signal,
    onChange() {
      views.push(watched.view());
      times.push(performance.now());
    },
  });
  watch = watched;
  try {
    const result = await act({ target: observed.target, watch, views });
    return { result, views, times, parts, lines };
  } finally {
    closing.abort();
  }
}

/** Without what is the same as before. */
const changesIn = <T>(list: T[]) => list.filter((each, at) => JSON.stringify(each) !== JSON.stringify(list[at - 1]));

/** Plays a drill step by step, watched. Its timeline is compared before it is told. `narrate` is given the views so far. */
function play(drill: StepDrill, stage: string, narrate = async (_sentence: string, _views: SeenStack[]) => {}) {
  return broken.use((target) =>
    watching(target, stage, async ({ target, watch, views }) => {
      const outcome = await runStepDrill(drill, {
        target,
        stage,
        leaseMs: LEASE_MS,
        narrate: (sentence) => narrate(sentence, views),
        observe: watch.observe,
      });
      await expect.poll(() => watch.view().timeline, { timeout: 5_000 }).toEqual(outcome.timeline);
      const seen = watch.view();
      watch.ended(outcome);
      return { outcome, seen, final: watch.view() };
    }),
  );
}

/** Plays a load, watched until its figures are all there. */
function load(drill: Drill, stage: string, settings: { requests: number; units: number }) {
  return loaded.use((target) =>
    watching(target, stage, async ({ target, watch }) => {
      const outcome = await drill.run({
        target,
        stage,
        settings: { connections: 40, stock: 1_000, leaseMs: 1_000, ...settings },
        signal: new AbortController().signal,
        onProgress() {},
        narrate: async () => {},
        observe: watch.observe,
      });
      const figures = outcome.figures as RushFigures;
      await until('all is counted', () => watch.view().figures?.sold === figures.sold);
      return { outcome, figures, seen: watch.view(), watch };
    }),
  );
}

test('watch: a process that is paused stands still with its sale inside, and the other sells on', async () => {
  const { result, views, parts } = await play(pausedProcess, '8-auto-renew');
  const { outcome, final } = result;

  expect(outcome.verdict).toBe(taughtVerdict('8-auto-renew', 'paused-process'));
  const isIt = changesIn(parts.map((seen) => seen.find(({ name }) => name === 'node-1')?.is));
  expect(isIt.filter((is) => is !== undefined)).toEqual(expect.arrayContaining(['stopped', 'up']));
  expect(isIt.indexOf('stopped')).toBeLessThan(isIt.lastIndexOf('up'));

  const paused = views.filter((view) => view.parts.some(({ name, is }) => name === 'node-1' && is === 'stopped'));
  expect(paused.length).toBeGreaterThan(5);
  for (const { nodes } of paused.slice(2))
    expect(nodes[0]).toMatchObject({ name: 'node-1', inside: [expect.any(String)] });
  expect(paused[2]?.lock).toMatchObject({
    holder: expect.stringMatching(/^sale \d+ on node-[12]$/),
    leaseMs: LEASE_MS,
  });
  // Its sale may have been sold, too, and nothing is lost before it writes.
  for (const { figures } of paused.slice(2, -1)) expect(figures).toMatchObject({ lost: 0, inDoubt: 0 });
  expect(paused[2]?.figures?.underWay).toBe(1);
  const soldIn = (view?: SeenStack) => view?.figures?.sold ?? 0;
  expect(soldIn(paused.at(-1))).toBeGreaterThan(soldIn(paused[2]));
  expect(paused.at(-1)?.timeline?.faults).toEqual([expect.objectContaining({ label: 'SIGSTOP', node: 'node-1' })]);

  const { soldMeanwhile, finalStock, expectedStock, lostUpdates } = outcome.figures as Record<string, number>;
  expect(soldMeanwhile).toBeGreaterThan(0);
  expect(final.figures).toMatchObject({ lost: lostUpdates });
  expect(final.stock).toEqual({ actual: finalStock, expected: expectedStock });
  expect(100 - (final.figures?.sold ?? 0)).toBe(expectedStock);
  expect(final).toMatchObject({ lock: null, timeline: outcome.timeline });
});

test('watch: a holder that is killed is inside no more, and its sale is in doubt', async () => {
  const { result, views, parts } = await play(crashedHolder, '4-ttl', async (sentence, views) => {
    // The holder is killed when it was seen inside.
    if (/has not yet written/.test(sentence)) await until('it is', () => views.at(-1)?.nodes[0]?.inside.length === 1);
  });
  const { outcome, seen, final } = result;

  expect(outcome.verdict).toBe(taughtVerdict('4-ttl', 'crashed-holder'));
  const isIt = changesIn(parts.map((seen) => seen.find(({ name }) => name === 'node-1')?.is));
  expect(isIt.slice(isIt.indexOf('dead'))).toEqual(['dead', 'up']);

  const dead = views.filter(({ parts }) => parts.some(({ name, is }) => name === 'node-1' && is === 'dead'));
  for (const { nodes } of dead) expect(nodes[0]).toEqual({ name: 'node-1', waiting: 0, inside: [] });
  expect(dead.length).toBeGreaterThan(1);
  // The key of the dead holder stays for a lease; it names no sale under this stage.
  expect(dead[1]?.lock).toMatchObject({ holder: expect.any(String), leaseMs: LEASE_MS });
  expect(dead[1]?.lock?.leftMs).toBeLessThanOrEqual(LEASE_MS);

  for (const { figures, stock } of [seen, final]) {
    expect(figures).toMatchObject({ sold: 1, refused: 0, inDoubt: 1, lost: 0 });
    expect(stock).toEqual({ actual: 99, expected: 99 });
  }
  expect(final.timeline).toEqual(outcome.timeline);
  expect(final.timeline?.lanes).toHaveLength(2);
});

test('watch: a release that is late is held on its line, which is cut, and then it is let go', async () => {
  const isOpenSale = ({ stock, figures }: SeenStack) =>
    (stock?.actual ?? 0) < (stock?.expected ?? 0) && figures?.sold === 0;
  const { result, lines, views } = await play(lateRelease, '5-owner-check', async (sentence, views) => {
    if (/is held up on the line/.test(sentence)) await until('its write is seen', () => views.some(isOpenSale));
  });
  const { outcome, final } = result;

  expect(outcome.verdict).toBe(taughtVerdict('5-owner-check', 'late-release'));
  const states = lines.map((seen) => seen.find(({ from, to }) => from === 'node-1' && to === 'redis'));
  const told = changesIn(states.map((line) => (line?.held ? `${line.is}, ${line.held} held` : line?.is)));
  const from = told.indexOf('open, DEL held');
  expect(told.slice(from, from + 3)).toEqual(['open, DEL held', 'cut, DEL held', 'cut']);
  expect(told.at(-1)).toBe('open');

  // A sale that has written and has no answer is under way or in doubt: the stock is lower than the answers say, and nothing is lost.
  for (const { figures, stock } of views.filter(isOpenSale)) {
    expect(figures?.lost).toBe(0);
    const missing = (stock?.expected ?? 0) - (stock?.actual ?? 0);
    expect((figures?.underWay ?? 0) + (figures?.inDoubt ?? 0)).toBeGreaterThanOrEqual(missing);
  }
  // In the end two that were inside together have read the same: one is lost, although the stock does not say so.
  expect(final.figures).toMatchObject({ lost: 1, underWay: 0 });

  expect(final.timeline).toEqual(outcome.timeline);
  expect(final.timeline?.overlaps.length).toBeGreaterThan(0);
  expect(final.figures?.sold).toBeGreaterThan(0);
});

test('watch: of a rush every sale is counted, and news come ten times a second at most', async () => {
  const { result, views, times } = await load(rush, '6-lua-release', { requests: 400, units: 100 });
  const { outcome, figures, seen, watch } = result;

  expect(outcome.verdict).toBe('pass');
  expect(figures.sold).toBe(400);
  expect(seen.figures).toMatchObject({ sold: figures.sold, refused: 0, inDoubt: figures.inDoubt });
  expect(seen.stock).toEqual({ actual: figures.finalStock, expected: figures.expectedStock });
  expect(seen.nodes).toEqual(['node-1', 'node-2'].map((name) => ({ name, waiting: 0, inside: [] })));
  expect(views.some(({ nodes }) => nodes.some(({ waiting }) => waiting > 0))).toBe(true);
  expect(Math.max(...views.map(({ figures }) => figures?.perSecond ?? 0))).toBeGreaterThan(50);
  expect(times.length).toBeLessThanOrEqual(((times.at(-1) ?? 0) - (times[0] ?? 0)) / 100 + 2);

  watch.ended(outcome);
  expect(watch.view()).toMatchObject({ stock: seen.stock, figures: { sold: 400, lost: 0 }, timeline: null });
});

test('watch: of a sell-out who is refused is counted, too', async () => {
  const { result } = await load(sellOut, '8-auto-renew', { requests: 400, units: 150 });
  const { outcome, figures, seen } = result;

  expect(outcome.verdict).toBe('pass');
  expect(seen.figures).toMatchObject({ sold: 150, refused: figures.soldOut + figures.lockTimeout + figures.failed });
  expect(seen.stock).toEqual({ actual: 0, expected: 0 });
});

test.each(['6-lua-release', 'buckets', 'redis-atomic'])(
  'watch: under %s nothing seems lost at any moment',
  async (stage) => {
    const { result, views } = await load(rush, stage, { requests: 400, units: 100 });
    expect(result.figures.lostUpdates).toBe(0);
    expect(views.filter(({ figures }) => figures?.underWay).length).toBeGreaterThan(0);
    expect(views.filter(({ figures }) => figures?.lost)).toEqual([]);
  },
);

test('watch: what a lock loses is lost in the view, while the rush goes on and after it', async () => {
  const { result, views } = await load(rush, '0-none', { requests: 400, units: 100 });
  const { outcome, figures, watch } = result;

  const early = views.filter(({ figures: seen }) => (seen?.lost ?? 0) > 0 && (seen?.sold ?? 0) < figures.sold);
  expect(early.length).toBeGreaterThan(0);
  for (const { stock, figures: seen } of early)
    expect((seen?.lost ?? 0) + (seen?.underWay ?? 0)).toBe((stock?.actual ?? 0) - (stock?.expected ?? 0));

  expect(figures.lostUpdates).toBeGreaterThan(0);
  watch.ended(outcome);
  const { stock, figures: seen } = watch.view();
  expect(seen?.lost).toBe(figures.lostUpdates);
  expect((stock?.actual ?? 0) - (stock?.expected ?? 0)).toBe(figures.lostUpdates);
});
