import { describe, expect, test } from 'vitest';
import { scenarios } from '../../../../loadtest/scenarios/index.ts';
import { verdictExpected } from '../../../../loadtest/staircase/lookup.ts';
import { locks } from '../../../../locks/index.ts';
import { LEASE_MS, run } from './own-target.ts';

/** They tell no step, so that nobody is waited for; or the virtual world can't carry it. */
const LEFT_OUT = ['long-wait', 'nested-call', 'long-sale', 'redis-outage'];

const firstAs = (drill: string, expected: 'pass' | 'fail') =>
  Object.keys(locks)
    .filter((stage) => verdictExpected(stage, drill) === expected)
    .slice(0, 1)
    .map((stage) => ({ stage, expected }));

/** Each drill under the first stage that fails it; where none does, under the first that holds. */
const cells = scenarios
  .filter(({ name }) => !LEFT_OUT.includes(name))
  .flatMap((drill) => {
    const [cell] = [...firstAs(drill.name, 'fail'), ...firstAs(drill.name, 'pass')];
    return cell === undefined ? [] : [{ name: drill.name, drill, ...cell }];
  });

describe('the verdict does not depend on how long the audience takes: one and a half leases at every step', () => {
  test.each(cells)('$name under $stage: $expected', async ({ drill, stage, expected }) => {
    let steps = 0;
    const { verdict, reasons } = await run(drill, stage, {
      narrateOn:
        ({ clock }) =>
        async (_sentence, _atMs, isStep) => {
          if (!isStep) return;
          steps += 1;
          await clock.sleep(1.5 * LEASE_MS);
        },
    });

    expect({ verdict, reasons }).toMatchObject({ verdict: expected });
    expect(steps).toBeGreaterThan(0);
  });
});
