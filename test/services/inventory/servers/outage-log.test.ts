import { afterEach, expect, test, vi } from 'vitest';
import { askWhenInDoubt, createOutageLog } from '../../../../services/inventory/servers/outage-log.ts';

afterEach(() => void vi.useRealTimers());

test('a server in doubt is asked until it answers, by one at a time; one that answers at once was not away', async () => {
  vi.useFakeTimers();
  const [warn, info, ask] = [vi.fn(), vi.fn(), vi.fn(async () => {})];
  const inDoubt = askWhenInDoubt(ask, createOutageLog('MySQL', { warn, info }));

  await inDoubt();
  expect(warn).not.toHaveBeenCalled();
  for (let times = 0; times < 2; times += 1) ask.mockRejectedValueOnce(new Error('It is away.'));
  const found = [inDoubt(), inDoubt()];
  await vi.runAllTimersAsync();
  await Promise.all(found);

  expect(ask).toHaveBeenCalledTimes(4);
  expect([warn.mock.calls, info.mock.calls]).toEqual([[['MySQL is unavailable']], [[{ ms: 500 }, 'MySQL is back']]]);
});
