import { readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drills as allDrills, clockDrills, stepDrills } from '../../../../loadtest/drills/index.ts';
import {
  type DrillResult,
  type Results,
  resultsSchema,
  rushFigures,
  stepFigures,
} from '../../../../loadtest/evidence/results.ts';
import { storyCells } from '../../../../loadtest/staircase/plan.ts';
import { locks } from '../../../../locks/index.ts';
import { bundledArgs } from '../../../../scripts/stack/bundle.ts';
import type { SaleEvent } from '../../../../services/inventory/lab/contract.ts';
import { makeBarePath, startCommand } from '../../../loadtest/commands/command-under-test.ts';
import { cell, drillsOf, QUICK } from '../../../loadtest/commands/quick-run.ts';

const isStep = ({ drill }: { drill: string }) => [...stepDrills, ...clockDrills].some(({ name }) => name === drill);
/** They need a replica of Redis. */
const ofReplicas = ['failover', 'forgotten-sale'];
const bare = makeBarePath();
const file = 'loadtest/commands/replay.ts';
const node = await bundledArgs(file);
const start = (args: string[], env: NodeJS.ProcessEnv) => startCommand(file, [...QUICK, ...args, '--json'], env, node);
/**
 * The stages whose story is run on the embedded servers: those that the tests below look at. What the others show does not
 * depend on the servers, and runs on native ones.
 */
const FEW = ['0-none', '1-in-process', '4-ttl', '8-auto-renew'];
/** Two runs at the same time: most of it is waiting. */
const runs = {
  native: { command: start([], {}), stages: Object.keys(locks) },
  embedded: { command: start(['--stage', FEW.join()], { PATH: bare.path }), stages: FEW },
};

beforeAll(async () => {
  await Promise.all([runs.native.command.ended, runs.embedded.command.ended]);
}, 600_000);

afterAll(() => {
  runs.native.command.remove();
  runs.embedded.command.remove();
  bare.remove();
});

describe.each(['native', 'embedded'] as const)('npm start: %s servers', (kind) => {
  const { command, stages } = runs[kind];
  let results: Results;

  beforeAll(() => {
    results = resultsSchema.parse(JSON.parse(command.stdout()));
  });

  test('the run is as taught, ends with 0, and leaves nothing behind', async () => {
    expect(results.verdictReasons).toEqual([]);
    expect(results.verdict).toBe('as-taught');
    expect(await command.ended).toEqual({ code: 0, signal: null });
    expect(command.stderr()).toBe('');
    expect(command.leftovers()).toEqual([]);
  });

  test('the servers are the ones that were asked for', () => {
    expect(results.environment.redis.kind).toBe(kind);
    expect(results.environment.nginx).toMatch(kind === 'native' ? /^native 1\./ : /^embedded 1\.25\.4$/);
  });

  test('every stage ran, each with its rushes, what it fixes and what it fails', () => {
    const story = storyCells(stages, allDrills).map(({ stage, drill }) => `${stage} ${drill.name}`);
    expect(drillsOf(results)).toEqual(story);
    expect(results.stages.map(({ stage }) => stage)).toEqual(expect.arrayContaining(stages));
    expect(results.leftOut).toEqual([]);
  });

  test('stage 0 loses updates on one node already, and oversells', () => {
    expect(cell(results, '0-none', 'one-node-rush')?.figures?.lostUpdates).toBeGreaterThan(0);
    expect(cell(results, '0-none', 'sell-out')?.figures?.oversold).toBeGreaterThan(0);
  });

  test('stage 1 loses updates on two nodes, with witnesses on both, and none on one', () => {
    expect(cell(results, '1-in-process', 'one-node-rush')).toMatchObject({ verdict: 'pass', witnesses: [] });
    const rush = cell(results, '1-in-process', 'rush');
    expect(rush?.verdict).toBe('fail');
    expect(rush?.figures?.lostUpdates).toBeGreaterThan(0);
    expect(rush?.witnesses[0]).toMatch(
      /^sale \d{4,} on node-[12] \(at [\d.]+ s\)(,| and) sale \d{4,} on node-[12] \(at [\d.]+ s\).* read stock \d+$/,
    );
    expect(rush?.witnesses[0]).toContain('node-1');
    expect(rush?.witnesses[0]).toContain('node-2');
    expect(cell(results, '1-in-process', 'sell-out')?.figures?.oversold).toBeGreaterThan(0);
  });

  test('stages 2 to 8 lose none, sell none twice, and never have two holders', () => {
    for (const { lockVersion, drills } of results.stages) {
      if ((lockVersion ?? 0) < 2) continue;
      for (const { verdict, figures, witnesses } of drills.filter((result) => !isStep(result))) {
        expect({ verdict, witnesses }).toEqual({ verdict: 'pass', witnesses: [] });
        expect(figures).toMatchObject({ lostUpdates: 0, oversold: 0, overlaps: 0, failed: 0, inDoubt: 0 });
      }
    }
  });

  test('the figures add up in every cell', () => {
    for (const { drills } of results.stages) {
      for (const result of drills) {
        const { drill } = result;
        const f = rushFigures(result);
        if (f === undefined) continue;
        expect(f.sent).toBe(300);
        expect(f.answers + f.errors).toBe(f.sent);
        expect(f.received).toBe(f.sent);
        expect(f.sold + f.soldOut + f.lockTimeout + f.failed + f.inDoubt).toBe(f.sent);
        expect(f.expectedStock).toBe(f.initialStock - f.sold);
        expect(f.lostUpdates).toBe(f.finalStock - f.expectedStock);
        expect(f.oversold).toBe(Math.max(0, f.sold - f.initialStock));
        expect(Object.values(f.soldByNode).reduce((sum, sold) => sum + sold, 0)).toBe(f.sold);
        expect(Object.keys(f.soldByNode)).toHaveLength(drill === 'one-node-rush' ? 1 : 2);
        expect(f.latencyMs?.p50).toBeLessThanOrEqual(f.latencyMs?.p99 ?? 0);
        expect(f.throughput).toBeGreaterThan(0);
      }
    }
  });

  test('every drill that goes step by step is as taught, with figures and a timeline', () => {
    const steps = results.stages.flatMap(({ drills }) => drills.filter(isStep));
    const staged = steps.filter(({ drill }) => kind === 'native' || !ofReplicas.includes(drill));
    expect(staged.length).toBeGreaterThan(kind === 'native' ? 10 : 6);
    for (const result of staged) {
      const { drill, verdict, taught, timeline } = result;
      expect({ drill, verdict }).toEqual({ drill, verdict: taught });
      expect({ drill, figures: Object.keys(stepFigures(result) ?? {}).length }).not.toEqual({ drill, figures: 0 });
      expect(timeline?.durationMs).toBeGreaterThan(0);
      expect(timeline?.lanes.length).toBeGreaterThan(1);
      expect(timeline?.lanes.some(({ inside }) => inside !== undefined)).toBe(true);
    }
  });

  test('a drill that goes step by step says what happened: who held the lock, what broke it, who read the same stock', () => {
    const crash = cell(results, '4-ttl', 'crashed-holder');
    expect(stepFigures(crash as DrillResult)?.takeoverMs).toBeGreaterThan(300);
    const killed = crash?.timeline?.faults.find(({ label }) => label === 'SIGKILL');
    expect(killed?.node).toBe('node-1');
    expect(crash?.timeline?.lanes.find(({ node }) => node === 'node-1')?.leases).toHaveLength(1);
    const paused = cell(results, '8-auto-renew', 'paused-process');
    expect(paused?.figures?.lostUpdates).toBeGreaterThan(0);
    expect(paused?.witnesses[0]).toMatch(
      /^sale \d+ on node-1 \(at [\d.]+ s\) and sale \d+ on node-2 \(at [\d.]+ s\) both read stock 100$/,
    );
    expect(paused?.timeline?.overlaps.length).toBeGreaterThan(0);
  });

  test.each(ofReplicas)('%s: as taught where Redis can be copied, else not applicable, with its reason', (drill) => {
    const failover = cell(results, '8-auto-renew', drill);
    if (kind === 'native') expect(failover).toMatchObject({ verdict: 'fail', taught: 'fail' });
    else {
      expect(failover).toMatchObject({
        verdict: 'not-applicable',
        taught: 'fail',
        reasons: ['The embedded Valkey knows no replication: install redis-server or valkey-server.'],
      });
      expect(failover).not.toHaveProperty('figures');
      expect(failover).not.toHaveProperty('timeline');
    }
  });

  test('Redis commands per sale: two without a lock, at least four with one', () => {
    expect(cell(results, '0-none', 'one-node-rush')?.figures?.redisCommandsPerSale).toBe(2);
    expect(cell(results, '4-ttl', 'rush')?.figures?.redisCommandsPerSale).toBeGreaterThanOrEqual(4);
  });

  test('the files: results, report and events, with latest pointing at them', () => {
    const latest = join(command.reports, 'latest');
    expect(readlinkSync(latest)).toMatch(/^\d{4}-\d\d-\d\dT/);
    expect(JSON.parse(readFileSync(join(latest, 'results.json'), 'utf8'))).toEqual(results);
    expect(readFileSync(join(latest, 'report.html'), 'utf8')).toContain('</html>');
    expect(readFileSync(join(latest, 'report.md'), 'utf8')).toContain('| ');
    const eventsOf = (name: string): SaleEvent[] =>
      gunzipSync(readFileSync(join(latest, `events/${name}.ndjson.gz`)))
        .toString()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    expect(eventsOf('1-in-process.rush').filter(({ type }) => type === 'wrote')).toHaveLength(300);
    // Those of the node that was killed are kept.
    const nodes = eventsOf('3-spin.crashed-holder').map(({ node }) => node);
    expect([...new Set(nodes)].sort()).toEqual(['node-1', 'node-2']);
  });
});
