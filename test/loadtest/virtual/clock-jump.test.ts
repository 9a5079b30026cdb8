import { describe, expect, test } from 'vitest';
import { clockJump } from '../../../loadtest/drills/clock-jump.ts';
import type { Target } from '../../../loadtest/harness/target.ts';
import { figuresOf, isUnknown, run, timelineOf, withNodes } from './own-target.ts';

/** Its clock can't be set. */
const steady = (target: Target): Target => {
  const { stack } = target;
  if (stack === undefined) throw new Error('There is no stack of our own.');
  const startClockServer = async () => ({ ...(await stack.startClockServer()), setAhead() {} });
  return { ...target, stack: { ...stack, startClockServer } };
};

describe('clock-jump', () => {
  test.each(['4-ttl', '8-auto-renew', 'blocking', 'fair', 'cohort', 'redlock'])(
    '%s: fails, others sell while the holder is inside, and its write undoes them',
    async (stage) => {
      const outcome = await run(clockJump, stage);

      expect(outcome).toMatchObject({ verdict: 'fail', figures: { soldMeanwhile: 3 } });
      expect(figuresOf(outcome)).toMatchObject({ lostUpdates: 2, finalStock: 99, expectedStock: 97 });
      expect(outcome.witnesses[0]).toMatch(/node-1.* and .*node-2.* both read stock 100/);
      const server = stage === 'redlock' ? 'master 3' : 'Redis';
      expect(timelineOf(outcome).faults.map(({ label }) => label)).toEqual([`clock of ${server} jumps`]);
    },
  );

  test.each(['fenced-writes', 'fenced'])('%s: holds, the late write is refused', async (stage) => {
    const outcome = await run(clockJump, stage);

    expect(outcome).toMatchObject({ verdict: 'pass', figures: { soldMeanwhile: 3, lostUpdates: 0 } });
    expect(figuresOf(outcome).overlaps).toBeGreaterThan(0);
  });

  test('3-spin: a key without an end has nothing to do with the clock', async () => {
    const outcome = await run(clockJump, '3-spin');

    expect(outcome).toMatchObject({ verdict: 'pass', figures: { soldMeanwhile: 0, overlaps: 0 } });
    expect(outcome.reasons).toEqual(['Nobody got in, and no sale was lost.']);
  });

  test.each(['8-auto-renew', 'redlock'])('%s: unknown when the clock does not jump', async (stage) => {
    isUnknown(await run(clockJump, stage, { wrap: steady }), /^The clock did not jump\.$/);
  });

  test('redlock: unknown when the majority is not bare, because no line is cut', async () => {
    const uncut = (target: Target) =>
      withNodes(target, ({ masterLinks = [] }) => ({
        masterLinks: masterLinks.map((link) => ({ ...link, cut() {} })),
      }));
    isUnknown(await run(clockJump, 'redlock', { wrap: uncut }), /^node-1 did not have the votes of 3 masters\.$/);
  });
});
