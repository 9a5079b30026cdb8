import { expect, test } from 'vitest';
import { ownCommands } from './command-under-test.ts';

const file = 'live/drill.ts';
const start = ownCommands(file);
const drill = (args: string[], env = {}) => start(file, args, env);

test('0: the stage does as the staircase says, and every step is narrated with its time', async () => {
  // A lease that a busy machine does not outlast.
  const command = drill(['nested-call', '--stage', '7', '--lease', '3000']);

  expect(await command.ended).toEqual({ code: 0, signal: null });
  expect(command.stdout()).toMatch(/✔ holds .*\n +Expected: this stage holds here\./);
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
  { args: ['nested-call', '--stage', '7'], url: 'redis://127.0.0.1:1', says: /could not be run: .*REDIS_URL/ },
])('2: $args is not allowed, or there is no Redis at $url', async ({ args, url, says }) => {
  const command = drill(args, url ? { REDIS_URL: url } : {});

  expect(await command.ended).toEqual({ code: 2, signal: null });
  expect(command.stdout()).toBe('');
  expect(command.stderr()).toMatch(says);
});
