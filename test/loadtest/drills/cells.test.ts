import { describe, expect, test } from 'vitest';
import { stepDrills } from '../../../loadtest/drills/index.ts';
import type { StepDrill } from '../../../loadtest/harness/step-drill.ts';
import type { Need, Target } from '../../../loadtest/harness/target.ts';
import { lockStaircase } from '../../../loadtest/staircase/locks.ts';
import { hasNothingToBreak, taughtVerdict } from '../../../loadtest/staircase/lookup.ts';
import { locks } from '../../../locks/index.ts';
import { BUSY, expectKeptOut, figuresOf, impostor, ownTargets, SHARED_LIMIT_MS, STEPLESS } from './own-targets.ts';

const stages = Object.keys(locks);
const versionOf = (stage: string) => Number.parseInt(stage, 10);
const cells = stepDrills.flatMap((drill) => stages.map((stage) => ({ drill, name: drill.name, stage })));
const taughtCells = cells.flatMap((cell) => {
  const taught = taughtVerdict(cell.stage, cell.name);
  return taught === null ? [] : [{ ...cell, taught }];
});
const drillOf = (name: string) => stepDrills.find((drill) => drill.name === name) as StepDrill;

/**
 * What a blank cell must come to by the nature of the lock. `keptOut`: nobody else gets in, because the lock is never given up;
 * nothing is lost, and everybody waits.
 */
const certain: Record<string, Partial<Record<string, 'pass' | 'fail' | 'keptOut'>>> = {
  'crashed-holder': { 1: 'pass', 2: 'fail' },
  'slow-holder': { 1: 'fail', 2: 'keptOut', 3: 'keptOut' },
  'late-release': { 2: 'keptOut', 3: 'keptOut', 4: 'fail' },
  'nested-call': { 1: 'fail', 2: 'fail', 3: 'fail', 4: 'fail', 5: 'fail' },
  'long-sale': { 2: 'pass', 4: 'fail', 5: 'fail', 6: 'fail' },
  'paused-process': { 0: 'fail', 2: 'keptOut', 3: 'keptOut', 4: 'fail', 5: 'fail', 6: 'fail', 7: 'fail' },
  'late-write': { 0: 'fail', 2: 'keptOut', 3: 'keptOut', 4: 'fail', 5: 'fail', 6: 'fail', 7: 'fail' },
  failover: { 0: 'fail', 2: 'fail', 3: 'fail', 4: 'fail', 5: 'fail', 6: 'fail', 7: 'fail' },
};
const blankCells = cells.flatMap((cell) => {
  const expected = certain[cell.name]?.[versionOf(cell.stage)];
  return expected === undefined ? [] : [{ ...cell, expected }];
});

const { run } = ownTargets(5);

async function isAsTaught({ drill, stage, taught }: (typeof taughtCells)[number]) {
  let hasSteps = false;
  const narrate = async (_sentence: string, _atMs: number, isStep: boolean) => {
    hasSteps ||= isStep;
  };
  const { verdict, reasons } = await run(drill, stage, { narrate });
  expect({ verdict, reasons }).toEqual({ verdict: taught, reasons: [expect.stringMatching(/\S.*\.$/s)] });
  expect(hasSteps).toBe(!STEPLESS.includes(drill.name));
}

describe('staircase: cells that mostly wait, a few at a time', { timeout: SHARED_LIMIT_MS }, () => {
  describe.concurrent('every cell that is drawn comes out as drawn', () => {
    test.each(taughtCells.filter(({ name }) => !BUSY.includes(name)))('$name under $stage: $taught', isAsTaught);
  });

  describe.concurrent('a cell that is left blank comes out as its lock makes it', () => {
    test.each(blankCells)('$name under $stage: $expected', async ({ drill, stage, expected }) => {
      const outcome = await run(drill, stage);
      const { verdict, reasons, witnesses } = outcome;
      expect({ verdict, reasons }).toMatchObject({ verdict: expected === 'keptOut' ? 'pass' : expected });
      if (expected !== 'keptOut') return;
      expectKeptOut(figuresOf(outcome).keptOutMs);
      expect(figuresOf(outcome).overlaps ?? 0).toBe(0);
      expect(figuresOf(outcome).lostUpdates ?? 0).toBe(0);
      expect(reasons.join()).toMatch(/everybody waited/);
      expect(witnesses).toEqual([]);
    });
  });

  describe.concurrent('a lock that is worse than its stage is found out', () => {
    test.each([
      { name: 'long-wait', stage: '3-spin', really: '2-recursive-retry' },
      { name: 'crashed-holder', stage: '4-ttl', really: '3-spin' },
      { name: 'slow-holder', stage: '5-owner-check', really: '4-ttl' },
      { name: 'late-release', stage: '6-lua-release', really: '5-owner-check' },
      { name: 'nested-call', stage: '7-reentrant', really: '6-lua-release' },
      { name: 'long-sale', stage: '8-auto-renew', really: '7-reentrant' },
    ])('$name: a $stage that is really a $really fails', async ({ name, stage, really }) => {
      expect(taughtVerdict(stage, name)).toBe('pass');
      expect(taughtVerdict(really, name)).toBe('fail');
      const { verdict, reasons } = await run(drillOf(name), stage, { wrap: impostor(stage, really) });
      expect({ verdict, reasons }).toMatchObject({ verdict: 'fail' });
    });
  });
});

describe('not applicable, and why', () => {
  const dashes = cells.filter(({ name, stage }) => lockStaircase.rows[stage]?.signs[name] === '–');

  test('the cells that are drawn so', () => {
    expect(dashes.map(({ name, stage }) => `${name} ${stage}`)).toEqual([
      'long-wait 0-none',
      'long-wait 1-in-process',
      'late-release 0-none',
      'late-release 1-in-process',
      'client-gone 0-none',
    ]);
  });

  test.each(dashes)('$name under $stage: there is nothing to break', async ({ drill, name, stage }) => {
    expect(hasNothingToBreak(stage, name)).toBe(true);
    expect(await run(drill, stage)).toEqual({
      verdict: 'not-applicable',
      reasons: [expect.stringContaining(stage)],
      witnesses: [],
      witnessCount: 0,
      stockOverTime: [],
      events: [],
    });
  });

  const needs: Record<string, Need[]> = {
    'crashed-holder': ['node processes'],
    'late-release': ['links'],
    'paused-process': ['node processes'],
    'late-write': ['links'],
    failover: ['links', 'replication'],
    'redis-outage': ['redis process'],
  };

  test.each(Object.entries(needs).flatMap(([name, needs]) => needs.map((need) => ({ name, need }))))(
    '$name on a target without $need: the target says why',
    async ({ name, need }) => {
      const sentence = `Here is no such thing as ${need}.`;
      const lacking = (target: Target): Target => ({ ...target, lacks: { [need]: sentence } });
      expect(await run(drillOf(name), '8-auto-renew', { wrap: lacking })).toMatchObject({
        verdict: 'not-applicable',
        reasons: [sentence],
      });
    },
  );

  test.each(stepDrills.filter(({ needs }) => needs === undefined))(
    '$name needs two nodes and nothing else',
    ({ name }) => {
      expect(needs[name]).toBeUndefined();
    },
  );

  test('every drill that breaks something of the stack says so', () => {
    const breaking = stepDrills.filter(({ needs = [] }) => needs.length > 0).map(({ name }) => name);
    expect(breaking).toEqual(Object.keys(needs));
  });
});
