import { afterAll, beforeAll, expect, test } from 'vitest';
import { runHttpTurn } from '../../../../loadtest/bench/http-turn.ts';
import { warmUp } from '../../../../loadtest/harness/rush.ts';
import { openLocalTarget, type Target } from '../../../../loadtest/harness/target.ts';

let target: Target;
beforeAll(async () => {
  target = await openLocalTarget({ env: { LOG_LEVEL: 'silent' }, service: 'loadtest/bench/node.ts' });
});
afterAll(() => target.close());

/** All sales that the nodes have made since they were started. */
async function soldSoFar(): Promise<number> {
  const texts = await Promise.all(
    target.nodes.map(async ({ publicUrl }) => (await fetch(`${publicUrl}/metrics`)).text()),
  );
  const counts = texts.flatMap((text) => [...text.matchAll(/^lockstep_sales_total\{.*outcome="sold".*\} (\d+)$/gm)]);
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}

test('warm-up: both nodes sell for so long, and no sale is in flight when it ends', async () => {
  const startedAt = performance.now();
  await warmUp(target, 'cohort', { connections: 10, forMs: 400, signal: new AbortController().signal });

  expect(performance.now() - startedAt).toBeGreaterThan(400);
  const states = await Promise.all(target.nodes.map((node) => node.state()));
  expect(states.map(({ lock, inFlight }) => [lock, inFlight])).toEqual([
    ['cohort', 0],
    ['cohort', 0],
  ]);
  for (const { counts } of states) expect(counts.sold).toBeGreaterThan(10);
});

test('warm-up: ends at once when the run is to stop', async () => {
  const stopping = new AbortController();
  const options = { connections: 10, forMs: 60_000, signal: stopping.signal };
  const warming = warmUp(target, 'cohort', options);
  setTimeout(() => stopping.abort(new Error('It is to stop.')), 200);

  await expect(warming).rejects.toThrow('It is to stop.');
});

test.each([
  { name: 'cohort', touchesNoStore: false },
  { name: 'http-ceiling', touchesNoStore: true },
])('a turn over HTTP: $name sells before it is measured, and none of that is in its figures', async (contestant) => {
  const before = await soldSoFar();
  const figures = await runHttpTurn({
    ...contestant,
    target,
    needsMasters: false,
    connections: 10,
    requests: 50,
    withOrders: false,
    signal: new AbortController().signal,
  });

  expect(figures).toMatchObject({ sections: 50, lostUpdates: 0, starved: 0, errors: 0 });
  expect((await soldSoFar()) - before).toBeGreaterThan(200);
});

test('a node that is no node of the bench refuses the sale that touches no store', async () => {
  const usual = await openLocalTarget({ env: { LOG_LEVEL: 'silent' } });
  try {
    await expect(usual.nodes[0]?.setLock('http-ceiling')).rejects.toThrow(/was answered 400/);
  } finally {
    await usual.close();
  }
});
