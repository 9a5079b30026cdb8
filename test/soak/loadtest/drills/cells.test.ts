import { describe, expect, test } from 'vitest';
import { stepDrills } from '../../../../loadtest/drills/index.ts';
import type { StepDrill } from '../../../../loadtest/harness/step-drill.ts';
import type { Need, Target } from '../../../../loadtest/harness/target.ts';
import { hasNothingToBreak, taughtVerdict } from '../../../../loadtest/staircase/lookup.ts';
import { locks } from '../../../../locks/index.ts';
import { lackOfDeleting, lacksDeleting } from '../../../lacks-deleting.ts';
import { BUSY, comesOutAsSigned, impostor, ownTargets, SHARED_LIMIT_MS } from '../../../loadtest/drills/own-targets.ts';
import { runLoad } from '../../../services/inventory/rush-at.ts';
import { cellsOf, isRun } from './chosen-cells.ts';

const stages = Object.keys(locks);
const cells = cellsOf(stages);
const drillOf = (name: string) => stepDrills.find((drill) => drill.name === name) as StepDrill;

const { run, use } = ownTargets(4);

describe('staircase: cells that mostly wait, a few at a time', { timeout: SHARED_LIMIT_MS }, () => {
  describe.concurrent('every cell that is chosen comes out as drawn, or as its lock makes it', () => {
    test.each(cells.filter(isRun).filter(({ name }) => !BUSY.includes(name)))(
      '$name under $stage: $sign',
      async (cell) => {
        await comesOutAsSigned(run, cell);
      },
    );
  });

  describe.concurrent('a lock that is worse than its stage is found out', () => {
    test.each([
      { name: 'long-wait', stage: '3-spin', really: '2-recursive-retry' },
      { name: 'crashed-holder', stage: '4-ttl', really: '3-spin' },
      { name: 'hung-holder', stage: '7-reentrant', really: '8-auto-renew' },
      { name: 'slow-holder', stage: '5-owner-check', really: '4-ttl' },
      { name: 'late-release', stage: '6-lua-release', really: '5-owner-check' },
      { name: 'nested-call', stage: '7-reentrant', really: '6-lua-release' },
      { name: 'long-sale', stage: '8-auto-renew', really: '7-reentrant' },
    ])('$name: a $stage that is really a $really fails', async ({ name, stage, really }) => {
      expect(taughtVerdict(stage, name)).toBe('pass');
      expect(taughtVerdict(really, name)).toBe('fail');
      const { verdict, reasons } = await run(drillOf(name), stage, { wrap: impostor(stage, really), tries: 4 });
      expect({ verdict, reasons }).toMatchObject({ verdict: 'fail' });
    });
  });
});

describe('not applicable, and why', () => {
  const dashes = cells.filter(({ sign }) => sign === '–');

  test('the cells that are drawn so', () => {
    expect(dashes.map(({ name, stage }) => `${name} ${stage}`)).toEqual([
      'long-wait 0-none',
      'late-release 0-none',
      'late-batch 0-none',
      'early-read 0-none',
      'crossed-skus 0-none',
      'wrong-replica 0-none',
      'client-gone 0-none',
      'starvation 0-none',
      'overtaking 0-none',
      'long-wait 1-in-process',
      'late-release 1-in-process',
      'late-batch 1-in-process',
      'early-read 1-in-process',
      'crossed-skus 1-in-process',
      'wrong-replica 1-in-process',
      'starvation 1-in-process',
      'overtaking 1-in-process',
      ...stages
        .slice(2)
        .flatMap((stage) =>
          ['late-batch', 'early-read', 'crossed-skus', 'wrong-replica'].map((name) => `${name} ${stage}`),
        ),
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
    partition: ['links'],
    'late-write': ['links'],
    'crossed-write': ['links'],
    'late-batch': ['links'],
    'early-read': ['links'],
    'crossed-skus': ['links'],
    failover: ['links', 'replication'],
    'forgotten-sale': ['links', 'redis process', 'replication'],
    'redis-outage': ['redis process'],
    starvation: ['links'],
    overtaking: ['links'],
  };

  test('wrong-replica needs what forgotten-sale needs', () => {
    expect(drillOf('wrong-replica').needs).toEqual(drillOf('forgotten-sale').needs);
  });

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

  test('a Redis that lacks the commands of a lock carries no drill under it, and says why', async ({ skip }) => {
    skip(!(await use(async ({ stack }) => lacksDeleting(stack?.redis.url ?? ''))));
    const notApplicable = { verdict: 'not-applicable', reasons: [expect.stringMatching(lackOfDeleting)] };

    expect(await run(drillOf('late-release'), 'delete-if-equal')).toMatchObject(notApplicable);
    // There, too, where it would have nothing to break.
    expect(await run(drillOf('amnesia'), 'delete-if-equal')).toMatchObject(notApplicable);
    await use(async (target) => expect(await runLoad(target, 'delete-if-equal')).toMatchObject(notApplicable));
  });

  test.each(stepDrills.filter(({ needs }) => needs === undefined))(
    '$name needs two nodes and nothing else',
    ({ name }) => {
      expect(needs[name]).toBeUndefined();
    },
  );

  test('every drill that breaks something of the stack says so', () => {
    const breaking = stepDrills.filter(({ needs = [] }) => needs.length > 0).map(({ name }) => name);
    expect(breaking.filter((name) => name !== 'wrong-replica')).toEqual(Object.keys(needs));
  });
});
