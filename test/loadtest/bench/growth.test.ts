import { expect, test } from 'vitest';
import { contestants } from '../../../loadtest/bench/contestants.ts';
import { growing, growthOf, growthSheet } from '../../../loadtest/bench/growth.ts';
import { drawGrowth } from '../../../loadtest/bench/growth-picture.ts';
import { renderBenchPage } from '../../../loadtest/bench/page.ts';
import { renderSheet } from '../../../loadtest/bench/table.ts';
import { sampleBench, turn } from './sample-bench.ts';

const at = (name: string, waiters: number, perSecond: number, commandsPerAcquisition: number) =>
  turn(1, name, { perSecond, commandsPerAcquisition }, waiters);

/** A run that was interrupted: `combine` was not measured with 1,000 connections. */
const grown = () =>
  sampleBench((results) => {
    results.mode = 'http';
    Object.assign(results.settings, { grows: true, waiters: [10, 100, 1_000], nodes: [2, 4] });
    results.contestants = ['cohort', 'combine', 'cohort×4', 'combine×4'].map((name) => ({ name, kind: 'ours' }));
    results.turns = [
      ...[at('cohort', 10, 1_147, 2), at('cohort', 100, 1_188, 2.05), at('cohort', 1_000, 883, 2.2)],
      ...[at('combine', 10, 1_195, 0.4), at('combine', 100, 1_943, 0.1)],
      ...[at('cohort×4', 100, 1_100, 2.08), at('combine×4', 100, 1_900, 0.2)],
    ];
  });

test('what grows: each lock with every number of connections, and on more nodes with one of them', () => {
  const [lock] = contestants.filter(({ name }) => name === 'cohort');
  const all = growing(lock ? [lock] : [], [2, 4, 8], [10, 100]);

  expect(all.map(({ name, nodes, waiters }) => [name, nodes, waiters])).toEqual([
    ['cohort', undefined, undefined],
    ['cohort×4', 4, 100],
    ['cohort×8', 8, 100],
  ]);
});

test('the picture: a line for each lock, as far as it was measured, and its figures as a text', () => {
  const { markup } = drawGrowth(growthOf(grown()));

  expect(markup).toContain(
    'Sales per second, with 10, 100, 1,000 connections: cohort 1,147, 1,188, 883; combine 1,195, 1,943, not measured.',
  );
  expect(markup).toContain('with 2, 4 nodes: cohort 2.1, 2.1; combine 0.1, 0.2.');
  expect(markup.match(/<circle/g)).toHaveLength(2 * (3 + 2) + 2 + 2);
  expect(markup).not.toMatch(/NaN|undefined|Infinity/);
  expect(renderBenchPage(grown())).toContain(markup);
});

test('the picture of nothing, as after Ctrl-C in the first turn, and of one that sold nothing', () => {
  const nothing = sampleBench((results) => {
    results.settings.waiters = [10, 100];
    results.turns = [turn(1, 'cohort', { perSecond: 0, commandsPerAcquisition: 0 }, 10)];
  });
  expect(drawGrowth(growthOf(nothing)).markup).not.toMatch(/NaN|undefined|Infinity/);
});

test('the tables on a terminal: 80 columns at most', () => {
  const tables = growthOf(grown()).map((growth) => renderSheet(growthSheet(growth)));

  expect(tables[0]).toMatch(/^Sales per second, by connections\n.*\n.* 10 .* 100 .* 1,000 /);
  expect(tables[0]).toMatch(/ combine .* 1,195 .* 1,943 .* – /);
  const widest = Math.max(...tables.flatMap((table) => table.split('\n').map((line) => line.length)));
  expect(widest).toBeLessThanOrEqual(80);
});
