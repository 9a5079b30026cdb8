import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { resultsSchema } from '../../../../loadtest/evidence/results.ts';
import { freePort } from '../../../../scripts/stack/ports.ts';
import { type CommandUnderTest, leavesNothing, ownCommands } from '../../../loadtest/commands/command-under-test.ts';
import { cell, drillsOf, QUICK, readLatest } from '../../../loadtest/commands/quick-run.ts';

const start = ownCommands('loadtest/commands/replay.ts', 'scripts/up.ts');
const replay = (args: string[], env: NodeJS.ProcessEnv = {}) =>
  start('loadtest/commands/replay.ts', [...QUICK, ...args], env);

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
    expect(stage4).toMatch(/✔ crashed-holder holds, as taught .*\n.*\n.*3-spin ✘ crashed-holder: none in 1\.\d s\n/);
    expect(stage4).toMatch(/✘ slow-holder +fails, as taught/);
    expect(stage4).toContain('As taught: 4 of 4 cells');
  });

  test.each([
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
    const [nginx, redis, port1, lab1, port2, lab2] = await Promise.all(Array.from({ length: 6 }, freePort));
    const up = start('scripts/up.ts', [], {
      NGINX_PORT: String(nginx),
      REDIS_PORT: String(redis),
      NODE_1_PORT: String(port1),
      NODE_1_LAB_PORT: String(lab1),
      NODE_2_PORT: String(port2),
      NODE_2_LAB_PORT: String(lab2),
      LOCK_VERSION: '6',
      LEASE_MS: '12345',
    });
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

    const broken = [
      'crashed-holder',
      'late-release',
      'paused-process',
      'late-write',
      'crossed-write',
      'failover',
      'forgotten-sale',
      'redis-outage',
      'clock-jump',
    ];
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
    // The one who started the stack ends it.
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
      .toContain('scripts/stack/reaper.mjs');
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
