// Locks that look right and are wrong: the check that must see it does, and right locks pass it, also those that look wrong.

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCheck } from '../../../loadtest/conformance/conformance.ts';
import { editsIn, readBlocks } from '../../edits.ts';
import { mutate } from '../../mutations/mutation.ts';
import { writeModule } from '../grade/modules.ts';
import { type RightLock, rightLocks } from './right-locks.ts';

const wrong = readBlocks(join(import.meta.dirname, 'wrong-locks.txt')).map(([head = '', what = '', ...edits]) => {
  const [check = '', base = ''] = head.split(' · ');
  return [check, base as RightLock, what, editsIn(edits)] as const;
});

function verdictOf(check: string, text: string) {
  const facts = {
    backend: /masters: true/.test(text) ? 'masters' : 'redis',
    isExternal: true,
    ...(text.includes('redis.wait(') && { replicas: 1 }),
  } as const;
  const file = writeModule('of-somebody.ts', text);
  // Our own client is faster, and has neither commands that wait at the server nor modules.
  const hasOurClient = !/blpop|node:os/.test(text);
  return runCheck(`contract-${check}`, { name: 'of-somebody', file, facts, hasOurClient });
}

test.each(wrong)('contract-%s finds it, in %s: %s', async (check, base, _what, edits) => {
  const file = 'right-locks.ts';
  const text = edits.reduce((text, edit) => mutate(text, { file, ...edit }), rightLocks[base]);
  expect(await verdictOf(check, text)).toMatchObject({ verdict: 'fail' });
});

const looksWrong: Partial<Record<RightLock, RightLock>> = {
  plain: 'odd',
  fenced: 'oddFenced',
  mute: 'oddMute',
  woken: 'oddWoken',
  queue: 'oddQueue',
  hasty: 'oddHasty',
  voting: 'oddVoting',
  redlock: 'oddRedlock',
  confirmed: 'oddConfirmed',
};
// Right locks go through the long ones in test/soak: that takes a while.
const short = wrong.filter(([check]) => check !== 'long-sequences');
const judged = [
  ...short.map(([check, base]) => [check, base] as const),
  ['herd', 'patient'] as const,
  ['commands', 'popping'] as const,
  ['failed-release', 'retried'] as const,
  ['lost', 'mute'] as const,
  ['lost', 'deaf'] as const,
  ['lost', 'lazy'] as const,
  ['sequences', 'deaf'] as const,
  ['same-node', 'turns'] as const,
];
const right = new Map(judged.map(([check, base]) => [`${check} ${base}`, [check, looksWrong[base] ?? base] as const]));
test.each([...right.values()])('contract-%s accuses no right lock: %s', async (check, base) => {
  const { verdict, reasons } = await verdictOf(check, rightLocks[base]);
  expect({ verdict, reasons }).toMatchObject({ verdict: expect.stringMatching(/^(pass|not-applicable)$/) });
});
