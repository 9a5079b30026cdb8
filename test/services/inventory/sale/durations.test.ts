import { Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createDurationHistogram } from '../../../../services/inventory/sale/durations.ts';

test('durations: a scrape shows what the histogram of prom-client shows for the same observations', async () => {
  const [name, help, labelNames] = ['took_seconds', 'How long it took', ['method', 'status']];
  const buckets = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30];
  const [own, theirs] = [new Registry(), new Registry()];
  const ours = createDurationHistogram(own, name, help, ...labelNames);
  const reference = new Histogram({ name, help, labelNames, buckets, registers: [theirs] });

  const empty = await own.metrics();
  expect(empty).toBe(await theirs.metrics());
  for (const [method, status, seconds] of [
    ['GET', 200, 0.001],
    ['GET', 200, 0.0011],
    ['GET', 409, 0],
    ['POST', 200, 30],
    ['GET', 200, 31],
  ] as const) {
    ours.of(method, status).observe(seconds);
    reference.observe({ method, status }, seconds);
  }

  expect(await own.metrics()).toBe(await theirs.metrics());
});
