import { expect, test } from 'vitest';
import { ownCommands } from './command-under-test.ts';

const file = 'live/drill.ts';
const start = ownCommands(file);
const drill = (args: string[], env = {}) => start(file, args, env);

test.each([
  { args: ['no-such-drill', '--stage', '4'], says: /no drill no-such-drill/ },
  { args: ['nested-call'], says: /--stage/ },
  {
    args: ['double-restore', '--stage', 'table'],
    says: /--stage table is not allowed for double-restore: it must be none, in-process/,
  },
  { args: ['nested-call', '--stage', '7'], url: 'redis://127.0.0.1:1', says: /could not be made: .*REDIS_URL/ },
])('2: $args is not allowed, or there is no Redis at $url', async ({ args, url, says }) => {
  const command = drill(args, url ? { REDIS_URL: url } : {});

  expect(await command.ended).toEqual({ code: 2, signal: null });
  expect(command.stdout()).toBe('');
  expect(command.stderr()).toMatch(says);
});
