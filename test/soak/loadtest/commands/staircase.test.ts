import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { resultsSchema, stepFigures } from '../../../../loadtest/evidence/results.ts';
import { makeTempDir } from '../../../../scripts/stack/parts.ts';
import { openRedis } from '../../../../scripts/stack/redis.ts';
import { stockKey } from '../../../../services/inventory/store.ts';
import { type CommandUnderTest, ownCommands } from '../../../loadtest/commands/command-under-test.ts';
import { drillsOf, readLatest } from '../../../loadtest/commands/quick-run.ts';

const LEASE = ['--lease', '600'];

const start = ownCommands('loadtest/commands/staircase.ts');
const staircase = (args: string[], env: NodeJS.ProcessEnv = {}) => start('loadtest/commands/staircase.ts', args, env);

describe('npm run staircase', () => {
  test('drills on three stacks at once: as taught, with 0, valid JSON, and nothing left behind', async () => {
    const command = staircase([
      '--stage',
      '4,5',
      '--drill',
      'crashed-holder,slow-holder,late-release',
      '--json',
      ...LEASE,
    ]);
    expect(await command.ended).toEqual({ code: 0, signal: null });
    expect(command.stderr()).toBe('');
    expect(command.leftovers()).toEqual([]);

    const results = resultsSchema.parse(JSON.parse(command.stdout()));
    expect(readLatest(command)).toEqual(results);
    expect(results).toMatchObject({ verdict: 'as-taught', verdictReasons: [], leftOut: [] });
    expect(results.command).toMatch(/^npm run staircase -- --stage 4,5 --drill crashed-holder,/);
    expect(results.settings.leaseMs).toBe(600);
    expect(drillsOf(results)).toEqual([
      '4-ttl crashed-holder',
      '4-ttl slow-holder',
      '4-ttl late-release',
      '5-owner-check crashed-holder',
      '5-owner-check slow-holder',
      '5-owner-check late-release',
    ]);
    const verdicts = results.stages.map(({ drills }) => drills.map(({ verdict, taught }) => [verdict, taught]));
    expect(verdicts).toEqual([
      [
        ['pass', 'pass'],
        ['fail', 'fail'],
        [expect.stringMatching(/^(pass|fail)$/), null],
      ],
      [
        ['pass', 'pass'],
        ['pass', 'pass'],
        ['fail', 'fail'],
      ],
    ]);
    for (const result of results.stages.flatMap(({ drills }) => drills)) {
      expect(Object.keys(stepFigures(result) ?? {})).not.toEqual([]);
      expect(result.timeline?.lanes.length).toBeGreaterThan(1);
    }
    for (const name of ['report.html', 'report.md', 'events/5-owner-check.late-release.ndjson.gz']) {
      expect(existsSync(join(command.reports, 'latest', name))).toBe(true);
    }
  });

  test('drills under load come first, then those that go step by step; the picture comes at the end', async () => {
    const command = staircase([
      ...['--stage', '6,7', '--drill', 'nested-call,rush', ...LEASE],
      ...['--requests', '200', '--connections', '20', '--stock', '500'],
    ]);
    expect((await command.ended).code).toBe(0);
    const lines = command.stdout().split('\n');
    const printed = lines.flatMap((line) => /^\[(\d)\/4.*\] ([✔✘]) (\S+) +(\S+)/.exec(line)?.slice(1).join(' ') ?? []);
    expect(printed.slice(0, 2)).toEqual(['1 ✔ 6-lua-release rush', '2 ✔ 7-reentrant rush']);
    expect(
      printed
        .slice(2)
        .map((line) => line.slice(2))
        .sort(),
    ).toEqual(['✔ 7-reentrant nested-call', '✘ 6-lua-release nested-call']);
    expect(lines.filter((line) => line.startsWith('│'))).toEqual([
      expect.stringMatching(/^│ stage +│ 6 │ 7 │$/),
      expect.stringMatching(/^│ rush +│ ✔ │ ✔ │$/),
      expect.stringMatching(/^│ nested-call +│ ✘ │ ✔ │$/),
    ]);
    expect(command.stdout()).toMatch(/As taught: 4 of 4 cells/);
  });

  test('a Redis that was given is shared by no two stacks, is not broken, and keeps what it held', async () => {
    const temp = makeTempDir();
    const { url, part } = await openRedis(undefined, { dir: temp.dir });
    const client = new Redis(url);
    try {
      await client.set(stockKey('001'), 77);
      const command = staircase(['--stage', '6,7', '--drill', 'nested-call,failover', ...LEASE], { REDIS_URL: url });
      expect((await command.ended).code).toBe(0);
      const results = readLatest(command);
      expect(results).toMatchObject({ verdict: 'as-taught', environment: { redis: { kind: 'external' } } });
      for (const { drills } of results.stages) {
        expect(drills.map(({ drill }) => drill)).toEqual(['nested-call', 'failover']);
        expect(drills[1]).toMatchObject({
          verdict: 'not-applicable',
          reasons: ['The Redis that REDIS_URL names is not ours to stop.'],
        });
      }
      expect(await client.keys('*')).toEqual([stockKey('001')]);
      expect(await client.get(stockKey('001'))).toBe('77');
    } finally {
      client.disconnect();
      await part?.stop();
      temp.remove();
    }
  });
});

describe('npm run staircase: however it ends', () => {
  const many = ['--stage', '4,5,6', '--drill', 'crashed-holder,late-release,paused-process,late-write', ...LEASE];
  /** The first cell has ended; on the other stacks a node is killed, paused, or cut off from Redis. */
  const inTheMiddle = (command: CommandUnderTest) => command.prints(/^\[1\/12/m);

  test('Ctrl-C in its middle: it ends with 2, names what was left out, and leaves nothing behind', async () => {
    const command = staircase(many);
    await inTheMiddle(command);
    command.child.kill('SIGINT');
    expect((await command.ended).code).toBe(2);
    expect(command.leftovers()).toEqual([]);

    const results = readLatest(command);
    expect(results.verdict).toBe('unknown');
    expect(results.leftOut.length).toBeGreaterThan(0);
    expect(results.leftOut.length + drillsOf(results).length).toBe(12);
    expect(results.leftOut.filter((name) => drillsOf(results).includes(name))).toEqual([]);
    expect(command.stdout()).toContain(`  Left out: ${results.leftOut.join(', ')}.\n`);
    expect(command.stdout()).toContain('Unknown: the run did not come to its end.');
  });

  test('Ctrl-C twice: it ends at once with 2, and the reaper leaves nothing behind', async () => {
    const command = staircase(many);
    await inTheMiddle(command);
    command.child.kill('SIGINT');
    command.child.kill('SIGTERM');
    expect((await command.ended).code).toBe(2);
    await expect.poll(() => command.leftovers(), { timeout: 10_000 }).toEqual([]);
  });

  test('a part that no drill killed dies: unknown, never pass, and nothing stays behind', async () => {
    const command = staircase(many);
    await inTheMiddle(command);
    const line = command.leftovers().find((line) => line.includes('nginx: master')) ?? '';
    process.kill(Number.parseInt(line, 10), 'SIGKILL');
    expect((await command.ended).code).toBe(1);
    expect(command.stdout()).toMatch(/was ended by SIGKILL/);
    expect(readLatest(command).verdict).toBe('unknown');
    expect(command.leftovers()).toEqual([]);
  });

  test.each([[['--stage', '9'], /--stage.*9.*a number from 0 to 8/s]])(
    '%j: refused with exit code 2 and a line that says what is allowed',
    async (args, line) => {
      const command = staircase(args);
      expect((await command.ended).code).toBe(2);
      expect(command.stderr()).toMatch(line);
      expect(command.stderr().trim().split('\n')).toHaveLength(1);
      expect(command.stdout()).toBe('');
    },
  );
});
