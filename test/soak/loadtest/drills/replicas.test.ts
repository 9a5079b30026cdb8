import { describe, expect, test } from 'vitest';
import { failover } from '../../../../loadtest/drills/failover.ts';
import { forgottenSale } from '../../../../loadtest/drills/forgotten-sale.ts';
import { wrongReplica } from '../../../../loadtest/drills/wrong-replica.ts';
import type { Target } from '../../../../loadtest/harness/target.ts';
import {
  figuresOf,
  impostor,
  isUnknown,
  ownTargets,
  SHARED_LIMIT_MS,
  timelineOf,
} from '../../../loadtest/drills/own-targets.ts';

const { run, use } = ownTargets(2, [], { hasReplica: true });
const replicated = 'replicated';

/** The line to the replica of the stack is not cut. */
const uncut = (target: Target): Target => {
  const { stack } = target;
  if (stack?.replica?.line === undefined) throw new Error('There is no replica.');
  return { ...target, stack: { ...stack, replica: { ...stack.replica, line: { ...stack.replica.line, cut() {} } } } };
};

/** Every replica that a drill starts copies Redis itself, so that no line can be cut. */
const uncutOther = (target: Target): Target => {
  const { stack } = target;
  if (stack?.startReplica === undefined) throw new Error('This Redis knows no replication.');
  const { startReplica, redis } = stack;
  return { ...target, stack: { ...stack, startReplica: () => startReplica(redis.url) } };
};

describe('replicas', { timeout: SHARED_LIMIT_MS }, () => {
  describe.concurrent('figures and pictures', () => {
    test('forgotten-sale under 8-auto-renew: the unit is sold a second time', async () => {
      const outcome = await run(forgottenSale, '8-auto-renew');

      expect(outcome).toMatchObject({ verdict: 'fail' });
      expect(figuresOf(outcome)).toEqual({ sold: 2, inDoubt: 0, lostUpdates: 1, finalStock: 99, expectedStock: 98 });
      expect(outcome.reasons[0]).toMatch(/^The stock is 99 instead of 98 at most: it knows nothing of 1 sale/);
      expect(outcome.witnesses[0]).toMatch(/node-1.* and .*node-2.* both read stock 100/);
      expect(outcome.witnesses[1]).toMatch(/^sale \d+ on node-1 was answered: sold, 100 before and 99 after it$/);
      const labels = timelineOf(outcome).faults.map(({ label }) => label);
      expect(labels).toEqual(['replication cut', 'Redis killed', 'replica promoted']);
    });

    test('forgotten-sale under 3-spin: the replica keeps the lock for ever, and the sale is forgotten all the same', async () => {
      const outcome = await run(forgottenSale, '3-spin');

      expect(outcome).toMatchObject({ verdict: 'fail' });
      expect(figuresOf(outcome)).toEqual({ sold: 1, inDoubt: 1, lostUpdates: 1, finalStock: 100, expectedStock: 99 });
    });

    test('forgotten-sale under replicated: the sale is in doubt, and nobody sells without a replica', async () => {
      const outcome = await run(forgottenSale, replicated);

      expect(outcome).toMatchObject({ verdict: 'pass' });
      expect(figuresOf(outcome)).toEqual({ sold: 0, inDoubt: 1, lostUpdates: 0, finalStock: 100, expectedStock: 100 });
      expect(outcome.reasons[0]).toMatch(/not answered as sold but NOT_REPLICATED/);
    });

    test('failover under replicated: nobody enters on a lock that no replica has confirmed', async () => {
      const outcome = await run(failover, replicated);

      expect(outcome).toMatchObject({ verdict: 'pass' });
      expect(figuresOf(outcome)).toMatchObject({ overlaps: 0, lostUpdates: 0, soldMeanwhile: 0, finalStock: 100 });
      expect(outcome.events.some(({ type }) => type === 'entered')).toBe(false);
      expect(outcome.events.some(({ code }) => code === 'NOT_REPLICATED')).toBe(true);
    });

    test('wrong-replica under replicated: the sale was confirmed, and the other replica knows nothing of it', async () => {
      const outcome = await run(wrongReplica, replicated);

      expect(outcome).toMatchObject({ verdict: 'fail' });
      expect(figuresOf(outcome)).toEqual({ sold: 1, inDoubt: 0, lostUpdates: 1, finalStock: 100, expectedStock: 99 });
    });
  });

  describe.concurrent('a lock that only looks like replicated is found out', () => {
    test.each([failover, forgottenSale])('$name: one that waits for no replica fails', async (drill) => {
      const outcome = await run(drill, replicated, { wrap: impostor(replicated, '8-auto-renew'), tries: 4 });
      expect(outcome).toMatchObject({ verdict: 'fail' });
    });
  });

  describe.concurrent('what was not staged is unknown', () => {
    test('forgotten-sale: the replica of the stack is not cut off', async () => {
      isUnknown(
        await run(forgottenSale, replicated, { wrap: uncut, tries: 4 }),
        /^The replica has heard of what came after the cut\.$/,
      );
    });

    test('wrong-replica: the other one is not cut off', async () => {
      isUnknown(
        await run(wrongReplica, replicated, { wrap: uncutOther, tries: 4 }),
        /^The replica has heard of what came after the cut\.$/,
      );
    });

    test.each([forgottenSale, wrongReplica])('$name: nothing to sell, so nobody is inside', async (drill) => {
      isUnknown(await run(drill, replicated, { stock: 0 }), /did not stay inside/);
    });

    test.each([forgottenSale, wrongReplica])('$name: the holder has left before the line is cut', async (drill) => {
      let holder: Target['nodes'][number] | undefined;
      let narrated = 0;
      const outcome = await run(drill, replicated, {
        wrap(target) {
          [holder] = target.nodes;
          return target;
        },
        async narrate() {
          if (narrated++ !== 1) return;
          await holder?.resume();
          await new Promise((resolve) => setTimeout(resolve, 300));
        },
      });
      isUnknown(outcome, /was not inside any more\.$/);
    });
  });

  test('wrong-replica: broken at any of its steps it leaves the stack as it was', async () => {
    for (let at = 0; at < 5; at += 1) {
      let narrated = 0;
      const narrate = async () => {
        if (narrated++ === at) throw new Error('broken half way');
      };
      await expect(run(wrongReplica, replicated, { narrate })).rejects.toThrow('broken half way');
    }
  });

  describe('where no replica can be had', () => {
    test.each([failover, forgottenSale, wrongReplica])('$name: the target says why', async (drill) => {
      const sentence = 'Here is no replication.';
      const lacking = (target: Target): Target => ({ ...target, lacks: { replication: sentence } });
      expect(await run(drill, replicated, { wrap: lacking })).toMatchObject({
        verdict: 'not-applicable',
        reasons: [sentence],
      });
    });

    test('a stack without a lasting replica does not carry replicated, whatever the drill', async () => {
      await use(async (target) => {
        expect(target.lacks['lasting replica']).toBeUndefined();
      });
      const lacking = (target: Target): Target => ({ ...target, lacks: { 'lasting replica': 'There is none.' } });
      expect(await run(forgottenSale, replicated, { wrap: lacking })).toMatchObject({ reasons: ['There is none.'] });
      expect(await run(forgottenSale, '8-auto-renew', { wrap: lacking })).toMatchObject({ verdict: 'fail' });
    });
  });
});
