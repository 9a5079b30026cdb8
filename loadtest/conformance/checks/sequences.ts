// Plays sequences of operations in one process, in every order, and checks the lock after each.

import { NotStagedError } from '../../evidence/not-staged.ts';
import { countOf } from '../../narration/numbers.ts';
import { Fault, holds } from '../outcome.ts';
import { askAll } from '../sequences/questions.ts';
import { openNodes, openScene } from '../sequences/scene.ts';
import { steps } from '../sequences/steps.ts';
import { abilitiesOf, isRare, type Operation, operations, sensible, sequencesUpTo } from '../sequences/words.ts';
import type { LockUnderTest, Staging } from '../staging.ts';

/** The longest sequences: with a rare operation, and without one. */
const SHORT = { length: 2, ofRare: 2 };
const LONG = { length: 4, ofRare: 2 };
const SEED = 7;
const AT_RANDOM = 60;
const MOST_AT_RANDOM = 8;
/** Two processes that look the same, as in two containers. */
const SHARED = { pid: 1, hostname: 'inventory', seed: '1' };
/** How many sequences the same processes play one after another, each with its own key. */
const IN_ONE_WORLD = 40;

type Nodes = ReturnType<typeof openNodes>;
type Open = (staging: Staging) => Nodes;

/** Plays every short sequence, with different processes and with two that look the same. */
export async function sequences(lock: LockUnderTest) {
  const words = sequencesUpTo(SHORT.length, SHORT.ofRare, abilitiesOf(lock));
  const plain = words.filter((word) => !isRare(word));
  const played = await playAll(lock, words, openNodes);
  await playAll(lock, plain, (staging) => openNodes(staging, SHARED));
  return allHold(played, SHORT.length);
}

export async function longSequences(lock: LockUnderTest) {
  const words = sequencesUpTo(LONG.length, LONG.ofRare, abilitiesOf(lock)).filter(
    ({ length }) => length > SHORT.length,
  );
  const played = await playAll(lock, words, openNodes);
  return allHold(played + (await playRandom(lock)), MOST_AT_RANDOM);
}

const allHold = (sequences: number, length: number) =>
  holds(
    `${countOf(sequences, 'sequence')} of up to ${length} operations: one holder at a time was inside, its lease was renewed, and the next one entered.`,
    { sequences },
  );

/** Plays longer random sequences. A sequence that breaks the lock is shortened while it still does. Resolves with their number. */
async function playRandom(lock: LockUnderTest): Promise<number> {
  const { array, asyncProperty, check, constantFrom } = await import('fast-check');
  const abilities = abilitiesOf(lock);
  // Who asks often, and waits for ten minutes, sends a hundred thousand commands: once is enough.
  const short = operations.filter((operation) => operation !== 'wait ten minutes');
  const word = array(constantFrom(...short), { minLength: LONG.length, maxLength: MOST_AT_RANDOM });
  let played = 0;
  const property = asyncProperty(word, async (each) => {
    played += await playAll(lock, [sensible(each, abilities)], openNodes);
  });
  const found = await check(property, { seed: SEED, numRuns: AT_RANDOM });
  if (found.failed) throw found.errorInstance;
  return played;
}

/**
 * Plays these in as few worlds as it can. Resolves with how many were played: one whose command did not come is left out. Rejects with
 * the Fault of the first that breaks the lock.
 */
async function playAll(lock: LockUnderTest, words: Operation[][], open: Open): Promise<number> {
  let lacking: Error | undefined;
  let played = 0;
  for (let next = 0; next < words.length; ) {
    const from = next;
    try {
      await lock.stage(async (staging) => {
        const nodes = open(staging);
        for (; next < Math.min(from + IN_ONE_WORLD, words.length); next += 1, played += 1) {
          staging.story.steps.length = 0;
          await play(lock, staging, nodes, words[next] ?? [], `${staging.key}:${next}`);
        }
      });
    } catch (error) {
      if (error instanceof Fault) await playAlone(lock, words[next] ?? [], open);
      // It takes those that were played before it.
      if (!(error instanceof NotStagedError)) throw error;
      lacking = error;
      next += 1;
    }
  }
  if (lacking && played === 0) throw lacking;
  return played;
}

/** Plays it with fresh processes, so that its steps are few. */
const playAlone = (lock: LockUnderTest, word: Operation[], open: Open) =>
  lock.stage((staging) => play(lock, staging, open(staging), word, staging.key));

/** Plays one sequence, and checks the lock after it. Rejects with a Fault when the lock fails. */
async function play(lock: LockUnderTest, staging: Staging, nodes: Nodes, word: Operation[], key: string) {
  const scene = openScene(staging, nodes, key, abilitiesOf(lock));
  for (const operation of word) scene.tell(await steps[operation](scene));
  await askAll(scene);
  nodes.setWallClock(0);
}
