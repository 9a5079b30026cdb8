import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lockNamed } from '../../../simulation/lock-service.ts';
import { makeTempDir, projectDir } from '../../../stack/parts.ts';
import { cleanUpLater } from '../../clean-up.ts';
import { writeMutant } from './judge.ts';
import { mutantsOf } from './mutants.ts';
import { type Difference, findDifference, playMore, playScene } from './scene.ts';

const { dir, remove } = makeTempDir();
cleanUpLater(remove);
/** A file is read once, so each mutant has a folder of its own. */
let mutants = 0;

/** The first mutant of a file whose change is so, as the lock that needs the file. */
function mutantOf(lock: string, file: string, change: RegExp) {
  const mutant = mutantsOf(file, readFileSync(join(projectDir, file), 'utf8')).find((each) =>
    change.test(`${each.kind} ${each.change}`),
  );
  mutants += 1;
  return writeMutant(lock, { file, text: mutant?.text ?? '' }, join(dir, String(mutants)));
}

test('scene: a lock behaves like itself', async () => {
  const lock = lockNamed('6-lua-release');
  expect(await findDifference(lock, 1, await playScene(lock, 1))).toBeUndefined();
});

test.each<[lock: string, file: string, change: RegExp, Pick<Difference, 'family' | 'what'>]>([
  [
    '6-lua-release',
    'lua/release-if-owner.lua',
    /^negated/,
    { family: 'calm', what: 'release() rejects: LOCK_NOT_HELD' },
  ],
  // A command that was sent and not answered is sent again, and is said never to have been sent.
  [
    '8-auto-renew',
    'locks/drivers/script.ts',
    /^dropped throw error/,
    { family: 'outage, long lease', what: 'never inside' },
  ],
  [
    'fair',
    'locks/beyond/fair.ts',
    /^dropped clearTimeout\(askAgain\)/,
    { family: 'turns, long lease', what: 'timers run on when all have left' },
  ],
  ['read-write', 'lua/acquire-to-read.lua', /^dropped return 0/, { family: 'readers', what: 'too many inside' }],
  [
    'redlock',
    'locks/beyond/redlock.ts',
    /holdCount > 1 && performance/,
    { family: 'computing', what: 'too many inside' },
  ],
  [
    'blocking',
    'locks/drivers/abortable.ts',
    /^dropped if \(signal\?\.aborted\)/,
    { family: 'impatient, long', what: 'acquire() ends late after an abort' },
  ],
  [
    'blocking',
    'locks/drivers/local-queue.ts',
    /^dropped if \(queue\.hasNews\)/,
    { family: 'outage in a crowd', what: expect.stringMatching(/^somebody waited/) },
  ],
  [
    'cohort',
    'locks/drivers/cohort-node.ts',
    /^dropped if \(waiter\.signal\?\.aborted/,
    { family: 'calm', what: 'one try waits' },
  ],
])('scene: it shows what is wrong with a mutant of %s, in %s', async (lock, file, change, difference) => {
  const usual = await playScene(lockNamed(lock), 3, [difference.family]);
  expect(await findDifference(mutantOf(lock, file, change), 3, usual)).toMatchObject(difference);
});

test('scene: what the lock as it is shows in another run is no difference', async () => {
  const lock = lockNamed('8-auto-renew');
  const usual = await playScene(lock, 1, ['trying']);
  const difference = { family: 'trying', seed: 1, what: 'a key when all have left' };
  expect(usual['trying']?.odd).not.toHaveProperty([difference.what]);
  await playMore(lock, usual, difference, 20);
  expect(usual['trying']?.odd).toHaveProperty([difference.what]);
});
