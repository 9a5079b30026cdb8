// What one process does to a lock, in every order of up to three operations.

import { countOf } from '../../narration/numbers.ts';
import { Fault, holds } from '../outcome.ts';
import { abilitiesOf, type Operation, playSequence, sequencesUpTo } from '../sequences.ts';
import type { LockUnderTest } from '../staging.ts';

const LENGTH = 3;
/** So many are played one after the other by the same two processes, each with a key of its own. */
const IN_ONE_WORLD = 40;

export async function sequences(lock: LockUnderTest) {
  const words = sequencesUpTo(LENGTH, abilitiesOf(lock));
  for (let from = 0; from < words.length; from += IN_ONE_WORLD)
    await playAll(lock, words.slice(from, from + IN_ONE_WORLD));
  return holds(
    `${countOf(words.length, 'sequence')} of up to ${LENGTH} operations: one at a time was inside, its lease was renewed, and the next got in.`,
    { sequences: words.length },
  );
}

/** The first that breaks the lock is played again by processes that have done nothing before: so its steps are few. */
export async function playAll(lock: LockUnderTest, words: Operation[][]) {
  let word: Operation[] = [];
  try {
    await lock.stage(async (staging) => {
      const [p, q] = [staging.process(), staging.process()];
      for (const [at, each] of words.entries()) {
        word = each;
        staging.story.steps.length = 0;
        await playSequence(staging, { p, q, key: `${staging.key}:${at}`, abilities: abilitiesOf(lock) }, each);
      }
    });
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    await playAlone(lock, word);
    // It takes those that were played before it.
    throw error;
  }
}

export const playAlone = (lock: LockUnderTest, word: Operation[]) =>
  lock.stage((staging) =>
    playSequence(
      staging,
      { p: staging.process(), q: staging.process(), key: staging.key, abilities: abilitiesOf(lock) },
      word,
    ),
  );
