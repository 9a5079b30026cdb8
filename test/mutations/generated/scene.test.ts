import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lockNamed } from '../../../simulation/lock-service.ts';
import { makeTempDir, projectDir } from '../../../stack/parts.ts';
import { cleanUpLater } from '../../clean-up.ts';
import { writeMutant } from './judge.ts';
import { mutantsOf } from './mutants.ts';
import { findDifference, playScene } from './scene.ts';

const { dir, remove } = makeTempDir();
cleanUpLater(remove);
const lock = '6-lua-release';
const file = 'lua/release-if-owner.lua';
const mutants = mutantsOf(file, readFileSync(join(projectDir, file), 'utf8'));

test('scene: a lock behaves like itself, and a mutant that is wrong does not', async () => {
  const usual = await playScene(lockNamed(lock), 1);
  const wrong = mutants.find(({ kind }) => kind === 'negated');

  expect(await findDifference(lockNamed(lock), 1, usual)).toBeUndefined();
  expect(
    await findDifference(writeMutant(lock, { file, text: wrong?.text ?? '' }, join(dir, 'wrong')), 1, usual),
  ).toEqual({ family: 'calm', seed: 1, what: 'release() rejects: LOCK_NOT_HELD' });
});
