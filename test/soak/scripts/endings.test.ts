// However a real program ends: it says so by its code, and leaves no process and no file, which `ownCommands` looks at after every test.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type CommandUnderTest, leavesNothing, ownCommands } from '../../scripts/command-under-test.ts';
import { QUICK, readLatest } from '../../scripts/quick-run.ts';

const replay = 'scripts/start.ts';
const bench = 'scripts/bench.ts';
const drill = 'scripts/drill.ts';
const kills = 'scripts/random-kills.ts';
const start = ownCommands(replay, bench, drill, kills);

const longRush = ['--stage', '6', '--drill', 'rush,sell-out', ...QUICK, '--requests', '50000', '--stock', '50000'];
const startRush = () => start(replay, longRush);
/** The stage's title is printed right before its first drill begins. */
const isUnderWay = (command: CommandUnderTest) => command.prints(/Stage 6/);

describe('Ctrl-C in the middle: 2', () => {
  test.each([
    { file: replay, args: longRush, at: /Stage 6/, says: /^$/ },
    { file: bench, args: ['--only', '6', '--seconds', '60'], at: /Round 1/, says: /^$/ },
    { file: kills, args: [], at: /Killing a random node every second/, says: /^The run failed: interrupted/ },
    { file: drill, args: ['redis-outage', '--stage', '8'], at: /SIGSTOP/, says: /^$/ },
    { file: drill, args: ['failover', '--stage', '8'], at: /Redis is killed/, says: /^$/ },
  ])('$file $args', async ({ file, args, at, says }) => {
    const command = start(file, args);
    await command.prints(at);
    command.child.kill('SIGINT');

    expect(await command.ended).toEqual({ code: 2, signal: null });
    expect(command.stderr()).toMatch(says);
    // The run before stays the latest.
    expect(existsSync(join(command.reports, 'latest'))).toBe(false);
  });
});

describe('something dies', () => {
  test('the harness: the reaper ends what it has started', async () => {
    const command = startRush();
    await isUnderWay(command);
    expect(command.leftovers().length).toBeGreaterThan(4);
    command.child.kill('SIGKILL');
    await command.ended;
    await leavesNothing(command);
  });

  test.each(['services/inventory/main.ts', 'redis-server', 'nginx: master'])(
    '%s: unknown, never pass, and 1',
    async (victim) => {
      const command = startRush();
      await isUnderWay(command);
      const line = command.leftovers().find((line) => line.includes(victim)) ?? '';
      process.kill(Number.parseInt(line, 10), 'SIGKILL');

      expect((await command.ended).code).toBe(1);
      expect(command.stdout()).toMatch(/was killed by SIGKILL/);
      expect(command.stdout()).toContain('Left out: 6-lua-release (sell-out).');
      expect(readLatest(command).verdict).toBe('unknown');
    },
  );
});
