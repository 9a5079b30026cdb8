import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { drills as allDrills, stepDrills } from '../../loadtest/drills/index.ts';
import type { SaleEvent } from '../../loadtest/lab-client.ts';
import { storyCells } from '../../loadtest/plan.ts';
import { type DrillResult, type Results, resultsSchema, rushFigures, stepFigures } from '../../loadtest/results.ts';
import { locks } from '../../locks/index.ts';
import { freePort } from '../../scripts/parts.ts';
import { type CommandUnderTest, makeBarePath, startCommand } from './command-under-test.ts';

const QUICK = ['--requests', '300', '--connections', '30', '--stock', '1000', '--units', '150', '--lease', '600'];

let running: CommandUnderTest[] = [];

function replay(args: string[], env: NodeJS.ProcessEnv = {}) {
  const command = startCommand('loadtest/replay.ts', [...QUICK, ...args], env);
  running.push(command);
  return command;
}

afterEach(async () => {
  for (const command of running) {
    command.child.kill('SIGKILL');
    await command.ended;
    await leavesNothing(command);
    command.remove();
  }
  running = [];
});

/** The reaper needs a moment after a death that nobody announced. */
const leavesNothing = (command: CommandUnderTest) =>
  expect.poll(() => command.leftovers(), { timeout: 10_000 }).toEqual([]);

const cell = (results: Results, stage: string, drill: string) =>
  results.stages.find((result) => result.stage === stage)?.drills.find((result) => result.drill === drill);
const drillsOf = (results: Results) =>
  results.stages.flatMap(({ stage, drills }) => drills.map(({ drill }) => `${stage} ${drill}`));
const isStep = ({ drill }: { drill: string }) => stepDrills.some(({ name }) => name === drill);
const readLatest = (command: CommandUnderTest) =>
  resultsSchema.parse(JSON.parse(readFileSync(join(command.reports, 'latest/results.json'), 'utf8')));

const bare = makeBarePath();
const startWhole = (env: NodeJS.ProcessEnv) => startCommand('loadtest/replay.ts', [...QUICK, '--json'], env);
/** Two whole runs at the same time: most of it is waiting. */
const whole = { native: startWhole({}), embedded: startWhole({ PATH: bare.path }) };

beforeAll(async () => {
  await Promise.all([whole.native.ended, whole.embedded.ended]);
}, 180_000);

afterAll(() => {
  whole.native.remove();
  whole.embedded.remove();
  bare.remove();
});

describe.each(['native', 'embedded'] as const)('npm start: %s servers', (kind) => {
  const command = whole[kind];
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

  test('all nine stages ran, each with its rushes, what it fixes and what it fails', () => {
    expect(results.stages.map(({ lockVersion }) => lockVersion)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    const story = storyCells(Object.keys(locks), allDrills).map(({ stage, drill }) => `${stage} ${drill.name}`);
    expect(drillsOf(results)).toEqual(story);
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
    const staged = steps.filter(({ drill }) => kind === 'native' || drill !== 'failover');
    expect(staged.length).toBeGreaterThan(10);
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

  test('failover: as taught where Redis can be copied, else not applicable, with its reason', () => {
    const failover = cell(results, '8-auto-renew', 'failover');
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
    expect(cell(results, '0-none', 'rush')?.figures?.redisCommandsPerSale).toBe(2);
    expect(cell(results, '3-spin', 'rush')?.figures?.redisCommandsPerSale).toBeGreaterThanOrEqual(4);
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

describe('npm start: choosing what runs', () => {
  test('LOCK_VERSION, by name as well, and --drill run that stage and that drill alone', async () => {
    const command = replay(['--json', '--drill', 'rush'], { LOCK_VERSION: '7-reentrant' });
    expect((await command.ended).code).toBe(0);
    const results = resultsSchema.parse(JSON.parse(command.stdout()));
    expect(drillsOf(results)).toEqual(['7-reentrant rush']);
    expect(results.command).toMatch(/^LOCK_VERSION=7-reentrant npm start -- /);
  });

  test('LOCK_VERSION alone tells that stage’s story, with what it fixes under the stage before beside it', async () => {
    const command = replay([], { LOCK_VERSION: '4' });
    expect((await command.ended).code).toBe(0);
    const results = readLatest(command);
    expect(drillsOf(results)).toEqual([
      '3-spin crashed-holder',
      '4-ttl rush',
      '4-ttl crashed-holder',
      '4-ttl slow-holder',
    ]);
    expect(results).toMatchObject({
      verdict: 'as-taught',
      command: expect.stringMatching(/^LOCK_VERSION=4 npm start/),
    });
    const [, stage4 = ''] = command.stdout().split('Stage 4 · ttl\n');
    expect(stage4).toMatch(/✔ crashed-holder holds, as taught .*\n.*\n.*3-spin ✘ crashed-holder: none in 1\.2 s\n/);
    expect(stage4).toMatch(/✘ slow-holder +fails, as taught/);
    expect(stage4).toContain('As taught: 4 of 4 cells');
  });

  test.each([
    [['--stage', '9'], {}, /--stage.*9.*a number from 0 to 8/s],
    [['--drill', 'nap'], {}, /--drill.*nap.*one-node-rush, rush, sell-out/s],
    [['--requests', '0'], {}, /--requests.*0.*whole number/s],
    [['--requests', '12.5'], {}, /whole number/],
    [['--connections', '500'], {}, /--connections 500 is too many/],
    [['--drill', 'sell-out', '--units', '10'], {}, /too many for the 20 buyers/],
    [['--stock', '10'], {}, /--stock 10 is too low/],
    [['--lease', '99'], {}, /--lease.*99.*at least 100 ms/s],
    [['--lease', 'long'], {}, /--lease.*long.*whole number/s],
    [['--url', 'http://127.0.0.1:1'], {}, /--url and --lab go together/],
    [['--lab', 'http://127.0.0.1:1'], {}, /two addresses/],
    [['--url', 'ftp://x', '--lab', 'http://127.0.0.1:1,http://127.0.0.1:2'], {}, /address such as/],
    [['surprise'], {}, /too many arguments/],
    [['--nonsense'], {}, /unknown option/],
    [[], { LOCK_VERSION: 'x' }, /LOCK_VERSION=x is not allowed/],
    [[], { LEASE_MS: '1' }, /^LEASE_MS=1 is not allowed: it must be a whole number from 30 to 3600000/],
    [[], { REDIS_URL: 'redis://127.0.0.1:1' }, /REDIS_URL names does not answer: connect ECONNREFUSED/],
    [
      ['--url', 'http://127.0.0.1:1', '--lab', 'http://127.0.0.1:1,http://127.0.0.1:2'],
      {},
      /127.0.0.1:1\/state got no answer/,
    ],
  ])('%j %j: refused with exit code 2 and a line that says what is allowed', async (args, env, line) => {
    const command = replay(args, env);
    expect((await command.ended).code).toBe(2);
    expect(command.stderr()).toMatch(line);
    expect(command.stderr().trim().split('\n')).toHaveLength(1);
    expect(command.stdout()).toBe('');
  });
});

describe('npm start: aimed at a stack that runs already', () => {
  async function ask(url: string, init?: RequestInit) {
    const response = await fetch(url, init);
    return (await response.json()) as Record<string, unknown>;
  }

  test('what it can’t break there is not applicable, the rest is run, and the stack is put back as it was', async () => {
    const [nginx, port1, lab1, port2, lab2] = await Promise.all(Array.from({ length: 5 }, freePort));
    const up = startCommand('scripts/up.ts', [], {
      NGINX_PORT: String(nginx),
      NODE_1_PORT: String(port1),
      NODE_1_LAB_PORT: String(lab1),
      NODE_2_PORT: String(port2),
      NODE_2_LAB_PORT: String(lab2),
      LOCK_VERSION: '6',
      LEASE_MS: '12345',
    });
    running.push(up);
    await up.prints(/Stop: +Ctrl-C/);
    const url = `http://127.0.0.1:${nginx}`;
    const labs = [`http://127.0.0.1:${lab1}`, `http://127.0.0.1:${lab2}`];
    const stateOf = async (lab: string) => {
      const { lock, leaseMs, retryDelayMs, waitTimeoutMs, inFlight, instance } = await ask(`${lab}/state`);
      return { lock, leaseMs, retryDelayMs, waitTimeoutMs, inFlight, instance };
    };
    // The two nodes differ, and the stock is not what it was at the start.
    await ask(`${labs[1]}/lock-version`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ version: '7', leaseMs: 23_456, waitTimeoutMs: 3_456 }),
    });
    await ask(`${url}/inventory/sale`, { method: 'POST' });
    const before = { states: await Promise.all(labs.map(stateOf)), stock: await ask(`${url}/inventory`) };
    expect(before.states.map(({ lock, leaseMs }) => [lock, leaseMs])).toEqual([
      ['6-lua-release', 12_345],
      ['7-reentrant', 23_456],
    ]);

    const broken = ['crashed-holder', 'late-release', 'paused-process', 'late-write', 'failover', 'redis-outage'];
    const names = ['rush', 'slow-holder', 'client-gone', ...broken];
    const command = replay(['--url', url, '--lab', labs.join(), '--stage', '4', '--drill', names.join()]);
    expect(await command.ended).toEqual({ code: 0, signal: null });

    const results = readLatest(command);
    expect(results.verdict).toBe('as-taught');
    expect(results.environment.redis.kind).toBe('external');
    expect(drillsOf(results)).toHaveLength(names.length);
    expect(cell(results, '4-ttl', 'rush')?.verdict).toBe('pass');
    expect(cell(results, '4-ttl', 'slow-holder')?.verdict).toBe('fail');
    expect(cell(results, '4-ttl', 'client-gone')?.verdict).toBe('pass');
    const reason = 'A stack that runs already is not ours to break.';
    for (const drill of broken) {
      expect(cell(results, '4-ttl', drill)).toMatchObject({ drill, verdict: 'not-applicable', reasons: [reason] });
      expect(command.stdout()).toMatch(new RegExp(`– ${drill} +not applicable .*\\n +${reason}\\n`));
    }
    expect({ states: await Promise.all(labs.map(stateOf)), stock: await ask(`${url}/inventory`) }).toEqual(before);
    expect(command.leftovers()).toEqual([]);
    // Whoever started the stack ends it.
    up.child.kill('SIGINT');
    expect((await up.ended).code).toBe(0);
  });
});

describe('npm start: however it ends', () => {
  const long = ['--requests', '50000', '--stock', '50000', '--stage', '6', '--drill', 'rush,sell-out'];
  /** The stage's title is printed right before its first drill begins. */
  const underWay = (command: CommandUnderTest) => command.prints(/Stage 6/);

  test('Ctrl-C: it stops, says what was left out, writes the report, and ends with 2', async () => {
    const command = replay([...long, '--requests', '2000', '--drill', 'one-node-rush,rush,sell-out']);
    await command.prints(/one-node-rush +holds/);
    command.child.kill('SIGINT');
    expect((await command.ended).code).toBe(2);
    expect(command.stdout()).toContain('Left out: 6-lua-release rush, 6-lua-release sell-out.');
    const results = readLatest(command);
    expect(results).toMatchObject({ verdict: 'unknown', leftOut: ['6-lua-release rush', '6-lua-release sell-out'] });
    expect(cell(results, '6-lua-release', 'one-node-rush')?.verdict).toBe('pass');
    expect(existsSync(join(command.reports, 'latest/report.html'))).toBe(true);
    expect(command.leftovers()).toEqual([]);
  });

  test('Ctrl-C before the first figure: the run before stays the latest', async () => {
    const command = replay(long);
    await underWay(command);
    command.child.kill('SIGINT');
    expect((await command.ended).code).toBe(2);
    expect(existsSync(join(command.reports, 'latest'))).toBe(false);
    expect(command.leftovers()).toEqual([]);
  });

  test('Ctrl-C while the servers are starting: nothing stays behind', async () => {
    const command = replay(long);
    await expect
      .poll(() => command.leftovers().join(), { interval: 5, timeout: 15_000 })
      .toContain('scripts/reaper.ts');
    command.child.kill('SIGINT');
    expect((await command.ended).code).toBe(2);
    expect(command.leftovers()).toEqual([]);
  });

  test('a crash of the harness: the reaper leaves nothing behind', async () => {
    const command = replay(long);
    await underWay(command);
    expect(command.leftovers().length).toBeGreaterThan(4);
    command.child.kill('SIGKILL');
    await command.ended;
    await leavesNothing(command);
  });

  test.each(['services/inventory/main.ts', 'redis-server', 'nginx: master'])(
    '%s is killed: unknown, never pass, and nothing stays behind',
    async (victim) => {
      const command = replay(long);
      await underWay(command);
      const line = command.leftovers().find((line) => line.includes(victim)) ?? '';
      process.kill(Number.parseInt(line, 10), 'SIGKILL');
      expect((await command.ended).code).toBe(1);
      expect(command.stdout()).toMatch(/Unknown/);
      expect(command.stdout()).toMatch(/was ended by SIGKILL/);
      expect(command.stdout()).toContain('Left out: 6-lua-release sell-out.');
      expect(command.leftovers()).toEqual([]);
    },
  );
});
