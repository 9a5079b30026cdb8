// What the bench measures with: a warm-up, and the ceiling of a handover. The CPU time of real processes: commands/bench.test.ts.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runHttpTurn } from '../../../../loadtest/bench/http-turn.ts';
import { openLocalTarget, type Target } from '../../../../loadtest/harness/target.ts';

describe('a turn over HTTP', () => {
  let target: Target;
  beforeAll(async () => {
    target = await openLocalTarget({ env: { LOG_LEVEL: 'silent' }, service: 'loadtest/bench/node.ts' });
  });
  afterAll(() => target.close());

  /** All sales that the nodes have made since they were started. */
  async function soldSoFar(): Promise<number> {
    const pages = await Promise.all(target.nodes.map(({ publicUrl }) => fetch(`${publicUrl}/metrics`)));
    const texts = await Promise.all(pages.map((page) => page.text()));
    const counts = texts.flatMap((text) => [...text.matchAll(/^lockstep_sales_total\{.*outcome="sold".*\} (\d+)$/gm)]);
    return counts.reduce((sum, [, count]) => sum + Number(count), 0);
  }

  test.each([
    { name: 'cohort', touchesNoStore: false },
    { name: 'http-ceiling', touchesNoStore: true },
  ])('$name sells before it is measured, and none of that is in its figures', async (contestant) => {
    const before = await soldSoFar();
    const { signal } = new AbortController();
    const size = { connections: 10, requests: 50, needsMasters: false, withOrders: false };
    const figures = await runHttpTurn({ ...contestant, ...size, target, signal });

    expect(figures).toMatchObject({ sections: 50, lostUpdates: 0, starved: 0, errors: 0 });
    expect((await soldSoFar()) - before).toBeGreaterThan(200);
  });
});
