import { expect, test } from 'vitest';
import { watchStandstills } from '../../../../loadtest/harness/standstills.ts';
import { until } from '../../../locks/until.ts';
import { atLeast } from '../../at-least.ts';

test('standstills: what is asked and does not answer is one, from the question to the answer', async () => {
  let answer = () => {};
  let isHeld = false;
  const watch = watchStandstills(() =>
    isHeld ? new Promise<void>((resolve) => (answer = resolve)) : Promise.resolve(),
  );
  await until(async () => watch.looks > 2);
  const before = watch.spans.length;
  isHeld = true;
  const looks = watch.looks;
  await until(async () => watch.looks > looks);
  await new Promise((resolve) => setTimeout(resolve, 300));
  isHeld = false;
  answer();
  await watch.close();

  const [span] = watch.spans.slice(before).toSorted((a, b) => b.until - b.from - (a.until - a.from));
  expect((span?.until ?? 0) - (span?.from ?? 0)).toBeGreaterThanOrEqual(atLeast(300));
});

test('standstills: an error is an answer', async () => {
  const watch = watchStandstills(async () => {
    throw new Error('away');
  });
  await until(async () => watch.looks > 2);
  await watch.close();
});
