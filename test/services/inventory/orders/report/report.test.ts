import { expect, test } from 'vitest';
import { report as busy } from '../../../../../services/inventory/orders/report/busy.ts';
import { report as inSlices } from '../../../../../services/inventory/orders/report/in-slices.ts';

test.each([
  ['busy: nothing that is due has its turn before the end', busy, false],
  ['in-slices: what is due has its turn at the first await', inSlices, true],
])('%s', async (_what, report, hasHadItsTurn) => {
  let isDone = false;
  setImmediate(() => {
    isDone = true;
  });

  await report(5);

  expect(isDone).toBe(hasHadItsTurn);
});
