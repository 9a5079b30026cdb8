import { describe, expect, test } from 'vitest';
import { stepDrills } from '../../../loadtest/drills/index.ts';
import { taughtVerdict } from '../../../loadtest/staircase/lookup.ts';
import { backendOf, strategies } from '../../../locks/index.ts';
import { BUSY, ownTargets, SHARED_LIMIT_MS } from './own-targets.ts';

const stages = Object.keys(strategies);
const { run } = ownTargets(4, [...new Set(stages.map(backendOf))]);

const cells = stepDrills
  .filter(({ name }) => BUSY.includes(name))
  .flatMap((drill) => stages.map((stage) => ({ drill, name: drill.name, stage })))
  .flatMap((cell) => {
    const taught = taughtVerdict(cell.stage, cell.name);
    return taught === null ? [] : [{ ...cell, taught }];
  });
/** During an outage its buyers mostly wait. */
const waits = ({ name }: (typeof cells)[number]) => name === 'redis-outage';

async function isAsTaught({ drill, stage, taught }: (typeof cells)[number]) {
  const { verdict, reasons } = await run(drill, stage);
  expect({ verdict, reasons }).toEqual({ verdict: taught, reasons: [expect.stringMatching(/\S.*\.$/s)] });
}

describe('drills that keep both cores busy come out as the staircase draws them', { timeout: SHARED_LIMIT_MS }, () => {
  test.each(cells.filter((cell) => !waits(cell)))('$name under $stage: $taught', isAsTaught);

  describe.concurrent('a few at a time', () => {
    test.each(cells.filter(waits))('$name under $stage: $taught', isAsTaught);
  });
});
