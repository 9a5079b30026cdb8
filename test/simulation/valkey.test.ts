import { expect, test } from 'vitest';
import { openValkey } from '../../simulation/valkey.ts';

const NOBODY = 0;

test('valkey: its clock stands still until it is set, and may go back', async () => {
  const valkey = await openValkey();
  const timeAt = (ms: number) => {
    valkey.setTime(ms);
    return valkey.run(NOBODY, ['TIME']).reply;
  };

  const first = timeAt(0);

  expect(valkey.run(NOBODY, ['TIME']).reply).toEqual(first);
  expect(timeAt(1_234)).not.toEqual(first);
  expect(timeAt(0)).toEqual(first);
});

test('valkey: every byte comes back as it was sent', async () => {
  const valkey = await openValkey();
  const bytes = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code)).join('');

  valkey.run(NOBODY, ['SET', 'key', bytes]);

  expect(valkey.run(NOBODY, ['GET', 'key']).reply).toBe(bytes);
  expect(valkey.run(NOBODY, ['STRLEN', 'key']).reply).toBe(256);
});

test('valkey: after it has looked for another server in vain, it goes on to answer new connections', async () => {
  const valkey = await openValkey();
  for (const where of [
    ['127.0.0.1', 1],
    ['NO', 'ONE'],
  ]) {
    expect(valkey.run(NOBODY, ['REPLICAOF', ...where]).reply).toBe('OK');
    for (let second = 1; second <= 3; second += 1) {
      valkey.setTime(second * 1_000);
      valkey.step();
    }
  }

  for (const connection of [1, 2, 3]) expect(valkey.run(connection, ['ECHO', 'here']).reply).toBe('here');
});
