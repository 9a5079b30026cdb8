import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { storyOf, storyRowsOf } from '../../../../loadtest/commands/tracks.ts';
import { type Results, resultsSchema } from '../../../../loadtest/evidence/results.ts';
import { bundledArgs } from '../../../../scripts/stack/bundle.ts';
import { openMysql } from '../../../../scripts/stack/mysql.ts';
import { makeTempDir } from '../../../../scripts/stack/parts.ts';
import { findOnPath } from '../../../../scripts/stack/path.ts';
import { openRedis } from '../../../../scripts/stack/redis.ts';
import {
  type CommandUnderTest,
  leavesNothing,
  ownCommands,
  startCommand,
} from '../../../loadtest/commands/command-under-test.ts';
import { drillsOf, readLatest } from '../../../loadtest/commands/quick-run.ts';
import { figuresAsDrawn } from '../../../loadtest/orders/own-order-targets.ts';

const TRACK = ['--track', 'orders'];
const story = storyOf('orders', storyRowsOf('orders')).map(({ stage, drill }) => `${stage} ${drill.name}`);

/** The whole story. It mostly waits: the other commands run meanwhile. */
let command: CommandUnderTest;

beforeAll(async () => {
  command = startCommand('loadtest/commands/replay.ts', TRACK, {}, await bundledArgs('loadtest/commands/replay.ts'));
});

afterAll(async () => {
  command.child.kill('SIGKILL');
  await command.ended;
  command.remove();
});

describe('npm start -- --track orders: some of it', () => {
  const start = ownCommands('loadtest/commands/replay.ts', 'loadtest/commands/staircase.ts');
  const few = mkdtempSync(join(tmpdir(), 'few-programs-'));
  for (const program of ['node', 'redis-server', 'nginx']) {
    const path = findOnPath(program) ?? (program === 'node' ? process.execPath : undefined);
    if (path !== undefined) symlinkSync(path, join(few, program));
  }
  afterAll(() => rmSync(few, { recursive: true, force: true }));

  test('without MySQL nothing of it can be carried, and each cell says what to install', async () => {
    const rows = 'guard-none,guard-zookeeper,key-table';
    const command = start('loadtest/commands/replay.ts', [...TRACK, '--stage', rows, '--json'], { PATH: few });
    expect((await command.ended).code).toBe(1);
    const { verdict, stages } = resultsSchema.parse(JSON.parse(command.stdout()));
    expect(verdict).toBe('unknown');
    expect(stages.map(({ stage }) => stage)).toEqual(rows.split(','));
    for (const { drills } of stages) {
      for (const result of drills) {
        expect(result).toMatchObject({
          verdict: 'not-applicable',
          reasons: [expect.stringMatching(/apt.* mariadb-server/)],
        });
      }
    }
  }, 300_000);

  test('a MySQL that was given is left alone, and each cell says why', async () => {
    const temp = makeTempDir();
    onTestFinished(temp.remove);
    const mysql = await openMysql(undefined, temp);
    onTestFinished(() => mysql.part?.stop());
    const args = [...TRACK, '--stage', 'guard-none,key-none', '--json'];
    const command = start('loadtest/commands/replay.ts', args, { MYSQL_URL: await mysql.database('shop') });
    expect((await command.ended).code).toBe(1);
    const { stages } = resultsSchema.parse(JSON.parse(command.stdout()));
    for (const { verdict, reasons } of stages.flatMap(({ drills }) => drills)) {
      expect({ verdict, reasons }).toEqual({
        verdict: 'not-applicable',
        reasons: [expect.stringMatching(/^The MySQL that MYSQL_URL names is not ours to empty/)],
      });
    }
  }, 300_000);

  test('npm run staircase takes rows and drills by name, and a Redis that was given is left as it was', async () => {
    const temp = makeTempDir();
    onTestFinished(temp.remove);
    const { url, part } = await openRedis(undefined, temp);
    onTestFinished(() => part?.stop());
    const chosen = ['--stage', 'guard-8-auto-renew,key-lock', '--drill', 'job-crashes-half-way,crash-before-answer'];
    const command = start('loadtest/commands/staircase.ts', [...TRACK, ...chosen], { REDIS_URL: url });
    expect({ code: (await command.ended).code, stderr: command.stderr() }).toEqual({ code: 0, stderr: '' });
    expect(drillsOf(readLatest(command))).toEqual([
      'guard-8-auto-renew job-crashes-half-way',
      'key-lock crash-before-answer',
    ]);
    expect(readdirSync(join(command.reports, 'latest/events'))).toHaveLength(2);
    const redis = new Redis(url);
    expect(await redis.keys('*')).toEqual([]);
    redis.disconnect();
  }, 300_000);
});

describe('npm start -- --track orders', () => {
  let results: Results;

  beforeAll(async () => {
    await command.ended;
    results = readLatest(command);
    // On a busy machine each of its steps waits.
  }, 600_000);

  test('the run is as taught, ends with 0, and leaves nothing behind', async () => {
    expect(results.verdictReasons).toEqual([]);
    expect(results.verdict).toBe('as-taught');
    expect(command.stderr()).toBe('');
    expect(await command.ended).toEqual({ code: 0, signal: null });
    await leavesNothing(command);
  });

  test('every drill ran under every row', () => {
    expect(drillsOf(results)).toEqual(story);
    for (const { drills } of results.stages) for (const { verdict } of drills) expect(verdict).toMatch(/^(pass|fail)$/);
    expect(results.stages.every(({ lockVersion }) => lockVersion === null)).toBe(true);
    for (const { drills } of results.stages) for (const { told = [] } of drills) expect(told.length).toBeGreaterThan(1);
    expect(results.command).toBe('npm start -- --track orders --reports '.concat(command.reports));
  });

  test('every cell has the figures that it must come to, and each failure names a witness', () => {
    for (const { stage, drills } of results.stages) {
      for (const { drill, verdict, figures, witnesses } of drills) {
        expect({ stage, drill, ...figures }).toMatchObject({ stage, drill, ...figuresAsDrawn(stage, drill) });
        expect(witnesses.length > 0).toBe(verdict === 'fail');
      }
    }
  });

  test('the terminal tells each row: its problem, what the row before fails, and both staircases at the end', () => {
    const out = command.stdout();
    const [, lock = ''] = out.split('Guard · 6-lua-release\n');
    expect(lock).toMatch(
      /^ +Problem {2}the other node has a schedule of its own.*\n +Before {3}✘ double-restore: 200 of 100\n/,
    );
    expect(out).toMatch(
      /✔ job-crashes-half-way holds, as taught .*\n.*\n +Before: guard-8-auto-renew ✘ job-crashes-half-way: 101 of 100\n/,
    );
    expect(out).toMatch(/│ double-restore +│ ✘ 200 of 100 +│ ✘ 200 of 100 +│ ✔ 100 of 100 +│/);
    expect(out).toMatch(/│ strategy +│ none +│ in-process +│ lock +│ table +│/);
    expect(out).toMatch(/│ next-upstream +│ ✘ 2 orders +│ ✘ 2 orders +│ ✘ 2 orders +│ ✔ 1 order +│/);
    expect(out).toMatch(/│ redelivered +│ ✘ 2 payments +│ ✘ 2 payments +│ ✘ 2 payments +│ ✔ 1 payment +│/);
    expect(out).toContain(`As taught: ${story.length} of ${story.length} cells`);
  });

  test('the report has a table for each staircase, and says which row is right in every drill', () => {
    const page = readFileSync(join(command.reports, 'latest/report.html'), 'utf8');
    expect(page.match(/<table class="staircase/g)).toHaveLength(3);
    expect(page).toContain('Every unit restored exactly once, in every drill: conditional.');
    expect(page).toContain('One tick at a time, and none that follows at once, in every drill: fixed-delay.');
    expect(page).toContain('One order, one refund and one payment of one intent, in every drill: table.');
    expect(page).toContain('100 orders are due. node-1 and node-2 tick at the same moment.');
    expect(page).not.toMatch(/undefined|NaN/);
    const text = readFileSync(join(command.reports, 'latest/report.md'), 'utf8');
    expect(text).toContain('## The clean-up: units restored of the units due');
    expect(text).toContain('## The double click: orders, refunds and payments made of one intent');
  });
});
