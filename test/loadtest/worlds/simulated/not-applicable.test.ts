import { describe, expect, test } from 'vitest';
import type { Target } from '../../../../loadtest/harness/target.ts';
import { scenario, scenarios } from '../../../../loadtest/scenarios/index.ts';
import { hasNothingToBreak } from '../../../../loadtest/staircase/lookup.ts';
import { locks } from '../../../../locks/index.ts';
import { run } from './own-target.ts';

describe('not applicable, and why', () => {
  const dashes = Object.keys(locks).flatMap((stage) =>
    scenarios
      .filter(({ name, needs }) => hasNothingToBreak(stage, name) && !needs.includes('masters'))
      .map((drill) => ({ drill, stage })),
  );

  test('where there is nothing to break', async () => {
    expect(dashes.length).toBeGreaterThan(40);
    for (const { drill, stage } of dashes) {
      const { verdict, reasons } = await run(drill, stage);
      expect({ stage, verdict, reasons }).toEqual({
        stage,
        verdict: 'not-applicable',
        reasons: [expect.stringContaining(stage)],
      });
    }
  });

  test.each(scenarios.flatMap(({ name, needs }) => needs.map((need) => ({ name, need }))))(
    '$name on a target without $need: the target says why',
    async ({ name, need }) => {
      const sentence = `Here is no such thing as ${need}.`;
      const lacking = (target: Target): Target => ({ ...target, lacks: { [need]: sentence } });
      const stage = need === 'masters' ? 'redlock' : '8-auto-renew';
      expect(await run(scenario(name), stage, { wrap: lacking })).toMatchObject({
        verdict: 'not-applicable',
        reasons: [sentence],
      });
    },
  );
});
