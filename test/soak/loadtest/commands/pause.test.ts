import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { stepDrills } from '../../../../loadtest/drills/index.ts';
import { taughtVerdict } from '../../../../loadtest/staircase/lookup.ts';
import { locks } from '../../../../locks/index.ts';
import { LEASE_MS, ownTargets, SHARED_LIMIT_MS, STEPLESS } from '../../../loadtest/drills/own-targets.ts';

const stages = Object.keys(locks);
const stagesAs = (drill: string, taught: 'pass' | 'fail') =>
  stages.filter((stage) => taughtVerdict(stage, drill) === taught).map((stage) => ({ stage, taught }));

/** Each drill as it comes out first in one way, the next one in the other: the steps are the same in both. */
const cells = stepDrills
  .filter((drill) => !STEPLESS.includes(drill.name))
  .flatMap((drill, at) => {
    const [passes, fails] = [stagesAs(drill.name, 'pass'), stagesAs(drill.name, 'fail')];
    const [cell] = at % 2 === 0 ? [...fails, ...passes] : [...passes, ...fails];
    return cell === undefined ? [] : [{ drill, name: drill.name, ...cell }];
  });

const { run } = ownTargets(4);

describe('the verdict does not depend on how long the audience takes', { timeout: SHARED_LIMIT_MS }, () => {
  describe.concurrent('one and a half leases at every step', () => {
    test.each(cells)('$name under $stage: $taught', async ({ drill, stage, taught }) => {
      let steps = 0;
      const slowAudience = async (_sentence: string, _atMs: number, isStep: boolean) => {
        if (!isStep) return;
        steps += 1;
        await sleep(1.5 * LEASE_MS);
      };
      const { verdict, reasons } = await run(drill, stage, { narrate: slowAudience });
      expect({ verdict, reasons }).toMatchObject({ verdict: taught });
      expect(steps).toBeGreaterThan(0);
    });
  });
});
