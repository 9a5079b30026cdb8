import { availableParallelism } from 'node:os';
import { expect, test } from 'vitest';
import type { BenchResults } from '../../../loadtest/bench/results.ts';
import { ownCommands } from '../../scripts/command-under-test.ts';

const file = 'scripts/bench.ts';
const start = ownCommands(file);
/** Published locks are modules that are TypeScript, which a bundle can't load. */
const startFromSources = ownCommands();
const tiny = ['--waiters', '10', '--seconds', '0.3', '--rounds', '1'];

async function measure(args: string[]): Promise<BenchResults> {
  const hasPeers = args.some((arg) => /async-mutex|peer:/.test(arg));
  const command = (hasPeers ? startFromSources : start)(file, [...args, '--json']);
  expect(await command.ended).toEqual({ code: 0, signal: null });
  expect(command.stderr()).toBe('');
  return JSON.parse(command.stdout());
}

test('npm run bench: a lock of ours, and a published mutex of one process, which loses updates', async () => {
  const { contestants, turns, settings } = await measure([...tiny, '--only', '6,async-mutex']);

  expect(contestants.map(({ name, kind }) => [name, kind])).toEqual([
    ['6-lua-release', 'ours'],
    ['peer:async-mutex', 'peer'],
  ]);
  const [ours, mutex] = turns.map(({ figures }) => figures);
  expect(ours).toMatchObject({ lostUpdates: 0, errors: 0 });
  expect(ours?.perSecond).toBeGreaterThan(0);
  // SET NX, the script with its GET and DEL, and the two of the section.
  expect(ours?.commandsPerAcquisition).toBeGreaterThan(5);
  expect(mutex?.lostUpdates).toBeGreaterThan(0);
  expect(settings.spinners?.count).toBe(availableParallelism());
});

test('npm run bench --http: a published lock sells through nginx, as ours do', async () => {
  // A tick of /proc is 10 ms: fewer sales may cost nginx less than that.
  const { turns } = await measure([
    ...['--http', '--only', 'http-ceiling,cohort,peer:redis-semaphore', '--requests', '2000', ...tiny],
  ]);

  for (const { figures } of turns) expect(figures).toMatchObject({ sections: 2_000, lostUpdates: 0, errors: 0 });
  const [ceiling, cohort] = turns.map(({ figures }) => figures);
  // The harness asks the node a question or two meanwhile.
  expect(ceiling?.commandsPerAcquisition).toBeLessThan(1);
  expect(cohort?.commandsPerAcquisition).toBeGreaterThan(1);
  if (process.platform === 'linux') expect(cohort?.cpuMicros?.nginx).toBeGreaterThan(10);
  expect(cohort?.cpuMicros?.redis).toBeGreaterThan(5);
});

test('npm run bench --http --nodes: each lock on stacks of so many nodes, a published one, too, and what more of them leave', async () => {
  const only = ['--only', 'cohort,peer:redis-semaphore', '--requests', '200'];
  const { turns, ratios, settings } = await measure(['--http', '--nodes', '3,2', ...only, ...tiny]);

  expect(settings.nodes).toEqual([2, 3]);
  expect(turns.map(({ name, figures }) => [name, figures?.sections])).toEqual([
    ['cohort×2', 200],
    ['cohort×3', 200],
    ['peer:redis-semaphore×2', 200],
    ['peer:redis-semaphore×3', 200],
  ]);
  expect(ratios['cohort×3/cohort×2@10']?.value).toBeGreaterThan(0);
});

test('npm run bench --grow: a lock with each number of connections, and on more nodes with the first of them', async () => {
  const few = ['--only', 'cohort', '--requests', '200', '--rounds', '1'];
  const { turns, settings } = await measure(['--grow', '--waiters', '10,20', '--nodes', '2,3', ...few]);

  expect(settings).toMatchObject({ grows: true, waiters: [10, 20], nodes: [2, 3] });
  expect(turns.map(({ name, waiters, figures }) => [name, waiters, figures?.sections])).toEqual([
    ['cohort', 10, 200],
    ['cohort×3', 10, 200],
    ['cohort', 20, 200],
  ]);
});

test('npm run bench --orders: the same rush without and with an order for each sale, and what is left of its pace', async () => {
  const { turns, ratios } = await measure(['--orders', '--only', 'cohort', '--requests', '200', ...tiny]);

  expect(turns.map(({ name, figures }) => [name, figures?.sections, figures?.lostUpdates])).toEqual([
    ['cohort', 200, 0],
    ['cohort+orders', 200, 0],
  ]);
  expect(ratios['cohort+orders/cohort@10']?.value).toBeGreaterThan(0);
});
