import { describe, expect, test } from 'vitest';
import { stepDrills } from '../../loadtest/drills/index.ts';
import { taughtVerdict } from '../../loadtest/staircase.ts';
import { backendOf, strategies } from '../../locks/index.ts';
import { BUSY, ownTargets } from './own-targets.ts';

const stages = Object.keys(strategies);
const { run } = ownTargets(1, [...new Set(stages.map(backendOf))]);

const cells = stepDrills
  .filter(({ name }) => BUSY.includes(name))
  .flatMap((drill) => stages.map((stage) => ({ drill, name: drill.name, stage })))
  .flatMap((cell) => {
    const taught = taughtVerdict(cell.stage, cell.name);
    return taught === null ? [] : [{ ...cell, taught }];
  });

describe('drills that keep both cores busy come out as the staircase draws them', () => {
  test.each(cells)('$name under $stage: $taught', async ({ drill, stage, taught }) => {
    const { verdict, reasons } = await run(drill, stage);
    expect({ verdict, reasons }).toEqual({ verdict: taught, reasons: [expect.stringMatching(/\S.*\.$/s)] });
  });
});
