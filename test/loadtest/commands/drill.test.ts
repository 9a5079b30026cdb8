import { expect, test } from 'vitest';
import { ownCommands } from './command-under-test.ts';

const file = 'live/drill.ts';
const start = ownCommands(file);
const drill = (args: string[], env = {}) => start(file, args, env);

test('0: each stage does as the staircase says, and every step is narrated with its time', async () => {
  const command = drill(['nested-call', '--stage', '6,7']);

  expect(await command.ended).toEqual({ code: 0, signal: null });
  expect(command.stdout()).toMatch(/✘ fails, as taught.*✔ holds, as taught/s);
  expect(command.stdout()).toMatch(/^ +\d+\.\d\d s {2}\S/m);
  expect(command.stderr()).toBe('');
});

test('--pause: it waits for Enter at each step; Ctrl-C meanwhile ends it with 2, and nothing is left of it', async () => {
  const command = drill(['paused-process', '--stage', '8', '--pause']);
  await command.prints(/Enter goes on\./);
  command.child.kill('SIGINT');

  expect(await command.ended).toEqual({ code: 2, signal: null });
  expect(command.stderr()).toMatch(/stopped before the end/);
});

test.each([
  { args: ['no-such-drill', '--stage', '4'], says: /no drill no-such-drill/ },
  { args: ['nested-call'], says: /--stage/ },
  { args: ['double-restore', '--stage', '4'], says: /goes with --guard, not with --stage/ },
  { args: ['double-click', '--idempotency', 'hope'], says: /hope.*none, in-process, lock, table/ },
  { args: ['rush', '--stage', '9'], says: /9/ },
])('2: $args is not allowed', async ({ args, says }) => {
  const command = drill(args);

  expect(await command.ended).toEqual({ code: 2, signal: null });
  expect(command.stdout()).toBe('');
  expect(command.stderr()).toMatch(says);
});

test('2: there is no Redis where REDIS_URL says', async () => {
  const command = drill(['nested-call', '--stage', '7'], { REDIS_URL: 'redis://127.0.0.1:1' });

  expect(await command.ended).toEqual({ code: 2, signal: null });
  expect(command.stderr()).toMatch(/could not be run: .*REDIS_URL/);
});
