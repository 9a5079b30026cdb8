import { describe, expect, test } from 'vitest';
import { stepDrills } from '../../../loadtest/drills/index.ts';
import { hasNothingToBreak, taughtVerdict } from '../../../loadtest/staircase/lookup.ts';
import { backendOf, beyond } from '../../../locks/index.ts';
import { BUSY, ownTargets, SHARED_LIMIT_MS } from './own-targets.ts';

const stages = Object.keys(beyond);
const { run } = ownTargets(5, [...new Set(stages.map(backendOf))]);

const cells = stepDrills
  .flatMap((drill) => stages.map((stage) => ({ drill, name: drill.name, stage })))
  .filter(({ name, stage }) => !hasNothingToBreak(stage, name));

async function isAsTaught({ drill, name, stage }: (typeof cells)[number]) {
  const { verdict, reasons } = await run(drill, stage);
  expect({ verdict, reasons }).toEqual({
    verdict: taughtVerdict(stage, name),
    reasons: [expect.stringMatching(/\S.*\.$/s)],
  });
}

describe('beyond stage 8: every cell comes out as the staircase draws it', { timeout: SHARED_LIMIT_MS }, () => {
  test('every cell that could be run is drawn', () => {
    const open = cells.filter(({ name, stage }) => taughtVerdict(stage, name) === null);
    expect(open.map(({ name, stage }) => `${stage} ${name}`)).toEqual([]);
  });

  describe.concurrent('a few at a time', () => {
    test.each(cells.filter(({ name }) => !BUSY.includes(name)))('$name under $stage', isAsTaught);
  });
});
