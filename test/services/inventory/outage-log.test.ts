import { EventEmitter } from 'node:events';
import { afterEach, expect, test, vi } from 'vitest';
import type { RedisClient } from '../../../locks/lock.ts';
import { askWhenInDoubt, createOutageLog, watchRedis } from '../../../services/inventory/outage-log.ts';

afterEach(() => void vi.useRealTimers());

test('an outage has one line at its beginning, and one at its end with its length', () => {
  vi.useFakeTimers();
  const redis = new EventEmitter();
  const [warn, info] = [vi.fn(), vi.fn()];
  watchRedis(redis as unknown as RedisClient, createOutageLog('Redis', { warn, info }));

  redis.emit('ready');
  // Each try to connect again begins so, and a client that is ended ends without it.
  for (const event of ['reconnecting', 'reconnecting', 'reconnecting', 'ready', 'close']) {
    redis.emit(event);
    vi.advanceTimersByTime(100);
  }

  expect([warn.mock.calls, info.mock.calls]).toEqual([[['Redis is away']], [[{ ms: 300 }, 'Redis is back']]]);
});

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
  expect([warn.mock.calls, info.mock.calls]).toEqual([[['MySQL is away']], [[{ ms: 500 }, 'MySQL is back']]]);
});
