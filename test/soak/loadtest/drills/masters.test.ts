import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { amnesia } from '../../../../loadtest/drills/amnesia.ts';
import { frozenMaster } from '../../../../loadtest/drills/frozen-master.ts';
import { masterDrills } from '../../../../loadtest/drills/index.ts';
import { lateVotes } from '../../../../loadtest/drills/late-votes.ts';
import type { Target } from '../../../../loadtest/harness/target.ts';
import { openTestBed } from '../../../../loadtest/harness/test-bed.ts';
import type { Link } from '../../../../scripts/link/link.ts';
import type { Breakable } from '../../../../scripts/stack/stack.ts';
import {
  figuresOf,
  isUnknown,
  LEASE_MS,
  ownTargets,
  SHARED_LIMIT_MS,
  withNodes,
} from '../../../loadtest/drills/own-targets.ts';
import { until } from '../../../services/inventory/node-under-test.ts';
import { atLeast } from '../../at-least.ts';

const { run, use } = ownTargets(3, ['masters']);

/** The masters' processes, with some of what is done to them different. */
const withProcesses =
  (change: Partial<Breakable>) =>
  (target: Target): Target => {
    if (target.stack === undefined) throw new Error('There is no stack of our own.');
    const masters = target.stack.masters.map(({ url, process }) => ({
      url,
      ...(process && { process: { ...process, ...change } }),
    }));
    return { ...target, stack: { ...target.stack, masters } };
  };

/** The lines from the nodes to the masters, with some of what is done to them different. */
const withMasterLinks = (change: Partial<Link>) => (target: Target) =>
  withNodes(target, ({ masterLinks = [] }) => ({ masterLinks: masterLinks.map((link) => ({ ...link, ...change })) }));

/** How many clients the first master has. */
async function connectionsTo({ stack }: Target) {
  const redis = new Redis(stack?.masters[0]?.url ?? '');
  const clients = String(await redis.client('LIST'));
  redis.disconnect();
  return clients.trim().split('\n').length;
}

describe('the masters that vote', { timeout: SHARED_LIMIT_MS }, () => {
  describe.concurrent('under redlock', () => {
    test('frozen-master: sales go on, and cost little more', async () => {
      const outcome = await run(frozenMaster, 'redlock');

      expect(outcome).toMatchObject({ verdict: 'pass', figures: { unsold: 0, limitMs: 50, lostUpdates: 0 } });
      expect(figuresOf(outcome).costMs).toBeLessThanOrEqual(50);
    });

    test('late-votes: nobody enters on votes that are over', async () => {
      const outcome = await run(lateVotes, 'redlock');

      expect(outcome).toMatchObject({ verdict: 'pass', figures: { overlaps: 0, lostUpdates: 0 } });
      expect(figuresOf(outcome).delayMs).toBeGreaterThanOrEqual(atLeast(600));
    });

    test('amnesia: a second majority lets another in, and a sale is lost', async () => {
      const outcome = await run(amnesia, 'redlock');

      expect(outcome).toMatchObject({ verdict: 'fail', figures: { soldMeanwhile: 3 } });
      expect(figuresOf(outcome).overlaps).toBeGreaterThan(0);
      expect(figuresOf(outcome).lostUpdates).toBeGreaterThan(0);
      expect(outcome.witnesses[0]).toMatch(/both read stock 100/);
    });
  });

  describe.concurrent('a fault that was not there is unknown', () => {
    /** What is different is so for every try. */
    const tries = 4;

    test('frozen-master: the signal does nothing', async () => {
      isUnknown(
        await run(frozenMaster, 'redlock', { wrap: withProcesses({ signal() {} }), tries }),
        /answers after SIGSTOP/,
      );
    });

    test('late-votes: the answers are not delayed', async () => {
      isUnknown(
        await run(lateVotes, 'redlock', { wrap: withMasterLinks({ delayReplies() {} }), tries }),
        /answers were not late/,
      );
    });

    test('amnesia: the master is not killed, and forgets nothing', async () => {
      const immortal = withProcesses({ async kill() {}, async start() {} });
      isUnknown(await run(amnesia, 'redlock', { wrap: immortal, tries }), /has forgotten nothing/);
    });

    test('amnesia: the lines are not cut, so the majority is not bare', async () => {
      isUnknown(await run(amnesia, 'redlock', { wrap: withMasterLinks({ cut() {} }), tries }), /had voted for node-1/);
    });

    test.each([
      { drill: lateVotes, name: 'late-votes', node: 'node-2' },
      { drill: amnesia, name: 'amnesia', node: 'node-1' },
    ])('$name: nothing to sell, so nobody is inside', async ({ drill, node }) => {
      isUnknown(await run(drill, 'redlock', { stock: 0 }), new RegExp(`sale on ${node} did not stay inside`));
    });

    test('amnesia: the holder leaves before the master forgets', async () => {
      let first: Target['nodes'][number] | undefined;
      let narrated = 0;
      const outcome = await run(amnesia, 'redlock', {
        wrap(target) {
          [first] = target.nodes;
          return target;
        },
        async narrate() {
          if (narrated++ !== 1) return;
          await first?.resume();
          await sleep(200);
        },
      });
      isUnknown(outcome, /had no vote to forget/);
    });
  });

  describe.concurrent('a testBed that breaks keeps no connection to a master', () => {
    const broken = () => new Error('broken half way');
    const open = (target: Target) =>
      openTestBed({ target, stage: 'redlock', timing: { leaseMs: LEASE_MS }, stock: 1, narrate: async () => {} });

    test('when it is opened', () =>
      use(async (target) => {
        const { stack } = target;
        if (stack === undefined) throw new Error('There is no stack of our own.');
        const before = await connectionsTo(target);
        const url = () => {
          throw broken();
        };

        const withoutRedis = { ...stack, redis: Object.defineProperty({ ...stack.redis }, 'url', { get: url }) };
        await expect(open({ ...target, stack: withoutRedis })).rejects.toThrow('broken half way');

        await until('the connections are closed', async () => (await connectionsTo(target)) === before);
      }));

    test('when it is put back', () =>
      use(async (target) => {
        const resume = async () => {
          throw broken();
        };
        const testBed = await open(withNodes(target, () => ({ resume })));
        const during = await connectionsTo(target);

        await expect(testBed.close()).rejects.toThrow('broken half way');

        await until('the connections are closed', async () => (await connectionsTo(target)) === during - 1);
        await (await open(target)).close();
      }));
  });

  describe.concurrent('where no masters vote, there is nothing to break', () => {
    test.each(masterDrills)('$name under 8-auto-renew', async (drill) => {
      expect(await run(drill, '8-auto-renew')).toMatchObject({
        verdict: 'not-applicable',
        reasons: ['Under 8-auto-renew there is nothing that this drill could break.'],
      });
    });

    test.each(masterDrills)('$name on a target without masters', async (drill) => {
      const sentence = 'Here are no masters.';
      const lacking = (target: Target): Target => ({ ...target, lacks: { masters: sentence } });
      expect(await run(drill, 'redlock', { wrap: lacking })).toMatchObject({
        verdict: 'not-applicable',
        reasons: [sentence],
      });
    });
  });
});
