import { describe, expect, test } from 'vitest';
import { stepDrills } from '../../loadtest/drills/index.ts';
import { lateRelease } from '../../loadtest/drills/late-release.ts';
import { slowHolder } from '../../loadtest/drills/slow-holder.ts';
import type { StepDrill } from '../../loadtest/step-drill.ts';
import type { Target } from '../../loadtest/target.ts';
import { ownTargets, type RunDrill, SHARED_LIMIT_MS, withNodes } from './own-targets.ts';

// `run` looks at the stack after every drill, in all files of this folder, whatever came of it. Here the drills break half way.

/** More sentences than any drill tells. */
const MANY = 20;

/**
 * Runs the drill again and again, and breaks it at its first sentence, at its second, and so on, until it tells no more.
 * Resolves with how often it was broken.
 */
async function breakAtEverySentence(run: RunDrill, drill: StepDrill, how: (stop: AbortController) => void) {
  for (let at = 0; at < MANY; at += 1) {
    const stop = new AbortController();
    let told = 0;
    const tell = async () => {
      if (told++ === at) how(stop);
    };
    const ended = await run(drill, '8-auto-renew', { tell, signal: stop.signal }).then(
      ({ verdict }) => verdict,
      (error: Error) => error.message,
    );
    if (told <= at) return at;
    expect(ended).toBe('broken half way');
  }
  throw new Error(`${drill.name} tells more than ${MANY} sentences.`);
}

const broken = () => new Error('broken half way');

describe('a drill that breaks half way leaves the stack as before', { timeout: SHARED_LIMIT_MS }, () => {
  const { run } = ownTargets(4);

  describe.concurrent('whatever it has told so far', () => {
    test.each(stepDrills.filter((drill) => drill !== slowHolder))('$name: an error at any sentence', async (drill) => {
      const times = await breakAtEverySentence(run, drill, () => {
        throw broken();
      });
      expect(times).toBeGreaterThan(0);
    });
  });
});

// The course of a drill that is stopped runs on, and the buyers of a slow-holder that breaks come again and again: both may
// break what was brought back.
describe.skip('a drill that is stopped, or sells in the background, leaves the stack as before', {
  timeout: SHARED_LIMIT_MS,
}, () => {
  const { run } = ownTargets(4);

  describe.concurrent('whatever it has told so far', () => {
    test.each(stepDrills)('$name: at any sentence', async (drill) => {
      const times = await breakAtEverySentence(run, drill, (stop) => stop.abort(broken()));
      expect(times).toBeGreaterThan(0);
    });

    test('slow-holder: an error at any sentence', async () => {
      const times = await breakAtEverySentence(run, slowHolder, () => {
        throw broken();
      });
      expect(times).toBeGreaterThan(0);
    });

    test.each(stepDrills)('$name: before it began', async (drill) => {
      const signal = AbortSignal.abort(broken());
      await expect(run(drill, '8-auto-renew', { signal })).rejects.toThrow('broken half way');
    });
  });
});

describe('a drill that breaks before its first sentence leaves the stack as before', () => {
  const { run } = ownTargets(1);

  test.fails('the stock is set, and the answer to it is lost', async () => {
    const deaf = (target: Target) =>
      withNodes(target, ({ setStock }) => ({
        async setStock(stock) {
          await setStock(stock);
          throw broken();
        },
      }));
    await expect(run(lateRelease, '8-auto-renew', { wrap: deaf })).rejects.toThrow('broken half way');
  });

  test.fails('the lock is set on one node, and the other does not answer', async () => {
    const deaf = (target: Target) =>
      withNodes(target, (_node, index) => ({
        ...(index === 1 && {
          async setLock() {
            throw broken();
          },
        }),
      }));
    await expect(run(lateRelease, '8-auto-renew', { wrap: deaf })).rejects.toThrow('broken half way');
  });
});
