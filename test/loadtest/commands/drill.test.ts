import { expect, test } from 'vitest';
import { ownCommands } from './command-under-test.ts';

const file = 'live/drill.ts';
const start = ownCommands(file);

test('2: there is no Redis where REDIS_URL says', async () => {
  const command = start(file, ['nested-call', '--stage', '7'], { REDIS_URL: 'redis://127.0.0.1:1' });

  expect(await command.ended).toEqual({ code: 2, signal: null });
  expect(command.stdout()).toBe('');
  expect(command.stderr()).toMatch(/could not be made: .*REDIS_URL/);
});
