import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startPart } from '../../../scripts/stack/parts.ts';

test('part: one that ends at its start is an error with its last lines, and is asked nothing more', async () => {
  let questions = 0;
  const start = startPart({
    name: 'short-lived',
    command: 'sh',
    args: ['-c', 'echo cannot open the door >&2; exit 3'],
    async isReady() {
      questions += 1;
      return false;
    },
  });

  await expect(start).rejects.toThrow('short-lived ended with exit code 3\n  cannot open the door');

  const asked = questions;
  await sleep(100);
  expect(questions).toBe(asked);
});

test('part: a program that does not exist is an error', async () => {
  const start = startPart({ name: 'nobody', command: '/no/such/program', args: [], isReady: async () => true });
  await expect(start).rejects.toThrow('nobody could not be started: spawn /no/such/program ENOENT');
});
