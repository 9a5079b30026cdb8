import { describe, expect, test } from 'vitest';
import { stepDrills } from '../../loadtest/drills/index.ts';
import { taughtVerdict } from '../../loadtest/staircase.ts';
import { locks } from '../../locks/index.ts';
import { ownTargets, SHARED_LIMIT_MS, slowAudience } from './own-targets.ts';

const stages = Object.keys(locks);
const firstAs = (drill: string, taught: 'pass' | 'fail') =>
  stages.find((stage) => taughtVerdict(Number.parseInt(stage, 10), drill) === taught);

const cells = stepDrills.flatMap((drill) =>
  (['fail', 'pass'] as const).flatMap((taught) => {
    const stage = firstAs(drill.name, taught);
    return stage === undefined ? [] : [{ drill, name: drill.name, stage, taught }];
  }),
);

describe('the verdict does not depend on how long the audience takes', { timeout: SHARED_LIMIT_MS }, () => {
  const { run } = ownTargets(4);

  describe.concurrent('one and a half leases at every step', () => {
    test.each(cells)('$name under $stage: $taught', async ({ drill, stage, taught }) => {
      const { verdict, reasons } = await run(drill, stage, { tell: slowAudience });
      expect({ verdict, reasons }).toMatchObject({ verdict: taught });
    });
  });
});
