import { describe, expect, test } from 'vitest';
import type { Target } from '../../../../loadtest/harness/target.ts';
import { scenario } from '../../../../loadtest/scenarios/index.ts';
import { figuresOf, isUnknown, run, timelineOf, withNodes } from './own-target.ts';

const clockJump = scenario('clock-jump');

/** Its clock can't be set. */
const steady = (target: Target): Target => {
  const { stack } = target;
  if (stack === undefined) throw new Error('There is no stack of our own.');
  const startClockServer = async () => ({ ...(await stack.startClockServer()), setAhead() {} });
  return { ...target, stack: { ...stack, startClockServer } };
};

describe('clock-jump', () => {
  test('the jump is drawn where it happened, and who undid the others is named', async () => {
    const outcome = await run(clockJump, 'redlock');

    expect(figuresOf(outcome)).toMatchObject({ soldMeanwhile: 3, lostUpdates: 2, finalStock: 99, expectedStock: 97 });
    expect(outcome.witnesses[0]).toMatch(/node-1.* and .*node-2.* both read stock 100/);
    expect(timelineOf(outcome).faults.map(({ label }) => label)).toEqual(['2 lines cut', 'clock of master 3 jumps']);
  });

  test.each(['8-auto-renew', 'redlock'])('%s: unknown when the clock does not jump', async (stage) => {
    isUnknown(await run(clockJump, stage, { wrap: steady }), /^The clock did not jump\.$/);
  });

  test('redlock: unknown when the majority is not bare, because no line is cut', async () => {
    const uncut = (target: Target) =>
      withNodes(target, ({ masterLinks = [] }) => ({
        masterLinks: masterLinks.map((link) => ({ ...link, cut() {} })),
      }));
    isUnknown(await run(clockJump, 'redlock', { wrap: uncut }), /^\d masters had voted for node-1 instead of 3\.$/);
  });
});
