import { describe, expect, test } from 'vitest';
import { crashedHolder } from '../../../../loadtest/drills/crashed-holder.ts';
import { crossedWrite } from '../../../../loadtest/drills/crossed-write.ts';
import { failover } from '../../../../loadtest/drills/failover.ts';
import { stepDrills } from '../../../../loadtest/drills/index.ts';
import { lateRelease } from '../../../../loadtest/drills/late-release.ts';
import { lateWrite } from '../../../../loadtest/drills/late-write.ts';
import { pausedProcess } from '../../../../loadtest/drills/paused-process.ts';
import { redisOutage } from '../../../../loadtest/drills/redis-outage.ts';
import type { StepDrill } from '../../../../loadtest/harness/step-drill.ts';
import type { Target } from '../../../../loadtest/harness/target.ts';
import { hasNothingToBreak } from '../../../../loadtest/staircase/lookup.ts';
import { ownTargets, SHARED_LIMIT_MS, withNodes } from '../../../loadtest/drills/own-targets.ts';

// `run` looks at the stack after every drill, in all files of this folder, whatever came of it. Here the drills break half way.

/** More sentences than any drill narrates. */
const MANY = 20;

const broken = () => new Error('broken half way');

/** wrong-replica is in replicas.test.ts. */
const breaking = stepDrills.filter(({ name }) => !hasNothingToBreak('8-auto-renew', name));

const { run } = ownTargets(4);

/** Breaks the drill at the sentence `at`. Resolves with false when it does not narrate so many. */
async function breakAt(drill: StepDrill, at: number, how: (stop: AbortController) => void): Promise<boolean> {
  const stop = new AbortController();
  let narrated = 0;
  const narrate = async () => {
    if (narrated++ === at) how(stop);
  };
  const ended = await run(drill, '8-auto-renew', { narrate, signal: stop.signal }).then(
    ({ verdict }) => verdict,
    (error: Error) => error.message,
  );
  if (narrated <= at) return false;
  expect(ended).toBe('broken half way');
  return true;
}

describe('a drill that breaks half way leaves the stack as before', { timeout: SHARED_LIMIT_MS }, () => {
  const fail = () => {
    throw broken();
  };
  const stop = (stop: AbortController) => stop.abort(broken());

  describe.concurrent('whatever it has narrated so far', () => {
    // Both end the drill where it is, and what follows is the same: each sentence is broken in one way, the next one in the other.
    test.each(breaking)('$name: by an error, and because the run is stopped, in turns', async (drill) => {
      // Each of its sentences comes seconds after the one before; the first and the third say what has been broken.
      const step = drill === redisOutage ? 2 : 1;
      let broken = 0;
      while (broken < MANY && (await breakAt(drill, broken * step, broken % 2 === 0 ? fail : stop))) broken += 1;
      expect(broken).toBeGreaterThan(0);
      expect(broken).toBeLessThan(MANY);
    });

    test.each(breaking)('$name: because the run was stopped before it began', async (drill) => {
      const signal = AbortSignal.abort(broken());
      await expect(run(drill, '8-auto-renew', { signal })).rejects.toThrow('broken half way');
    });
  });

  // The run is stopped in the very act: what was begun must be brought to an end, and undone.
  describe.concurrent('while it breaks something', () => {
    /** Stops the run, and acts. */
    const stopped =
      <Args extends unknown[], Result>(stop: () => void, act: (...args: Args) => Result) =>
      (...args: Args): Result => {
        stop();
        return act(...args);
      };
    const acts: Record<string, (target: Target, stop: () => void) => Target> = {
      'a node is killed': (target, stop) =>
        withNodes(target, ({ process }) =>
          process ? { process: { ...process, kill: stopped(stop, process.kill) } } : {},
        ),
      'a node is paused': (target, stop) =>
        withNodes(target, ({ process }) =>
          process ? { process: { ...process, signal: stopped(stop, process.signal) } } : {},
        ),
      'a command is about to be held': (target, stop) =>
        withNodes(target, ({ link }) => (link ? { link: { ...link, holdNext: stopped(stop, link.holdNext) } } : {})),
      'the line is cut behind a command': (target, stop) =>
        withNodes(target, ({ link }) => (link ? { link: { ...link, cut: stopped(stop, link.cut) } } : {})),
      'the nodes are led to the replica': (target, stop) =>
        withNodes(target, ({ link }) => (link ? { link: { ...link, moveTo: stopped(stop, link.moveTo) } } : {})),
    };

    test.each([
      { drill: crashedHolder, name: 'crashed-holder', act: 'a node is killed' },
      { drill: pausedProcess, name: 'paused-process', act: 'a node is paused' },
      { drill: lateRelease, name: 'late-release', act: 'a command is about to be held' },
      { drill: lateRelease, name: 'late-release', act: 'the line is cut behind a command' },
      { drill: lateWrite, name: 'late-write', act: 'a command is about to be held' },
      { drill: crossedWrite, name: 'crossed-write', act: 'the line is cut behind a command' },
      { drill: failover, name: 'failover', act: 'the nodes are led to the replica' },
    ])('$name: $act', async ({ drill, act }) => {
      const stopping = new AbortController();
      const wrap = (target: Target) => acts[act]?.(target, () => stopping.abort(broken())) ?? target;
      const ran = run(drill, '8-auto-renew', { signal: stopping.signal, wrap });
      await expect(ran).rejects.toThrow('broken half way');
    });
  });
});

describe('a drill that breaks before its first sentence leaves the stack as before', () => {
  test('the stock is set, and the answer to it is lost', async () => {
    const deaf = (target: Target) =>
      withNodes(target, ({ setStock }) => ({
        async setStock(stock) {
          await setStock(stock);
          throw broken();
        },
      }));
    await expect(run(lateRelease, '8-auto-renew', { wrap: deaf })).rejects.toThrow('broken half way');
  });

  test('the lock is set on one node, and the other does not answer', async () => {
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
