// How long a drill may say nothing, and what those who follow it see meanwhile.

import { expect, test } from 'vitest';
import { sleep } from '../../../loadtest/harness/clock.ts';
import { readPage } from '../../../loadtest/scenarios/page.ts';
import { run } from './own-target.ts';

const pageOf = (...lines: string[]) =>
  readPage(['a-page', 'Is a sale lost?', ...lines, 'holds when no sale is lost'].join('\n'));

test('a drill that waits for what never comes is ended, and the stack is as it was', async () => {
  const silent = pageOf('A sells at node-1 and is held inside', 'A ends');

  await expect(run(silent, '8-auto-renew', { silenceLimitMs: 300 })).rejects.toThrow(
    /^The drill came no further: for 300 ms it has said nothing\.$/,
  );
});

test('while somebody reads a sentence, no drill is silent for too long', async () => {
  const talking = pageOf('> One.', '', '> Two.');
  const narrate = () => sleep(500);

  expect(await run(talking, '8-auto-renew', { silenceLimitMs: 300, narrate })).toMatchObject({ verdict: 'pass' });
});
