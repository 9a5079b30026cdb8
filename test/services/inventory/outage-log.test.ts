import { EventEmitter } from 'node:events';
import { afterEach, expect, test, vi } from 'vitest';
import type { RedisClient } from '../../../locks/lock.ts';
import { logOutages } from '../../../services/inventory/outage-log.ts';

afterEach(() => void vi.useRealTimers());

test('an outage has one line at its beginning, and one at its end with its length', () => {
  vi.useFakeTimers();
  const redis = new EventEmitter();
  const [warn, info] = [vi.fn(), vi.fn()];
  logOutages(redis as unknown as RedisClient, { warn, info });

  redis.emit('ready');
  // Each try to connect again begins so, and a client that is ended ends without it.
  for (const event of ['reconnecting', 'reconnecting', 'reconnecting', 'ready', 'close']) {
    redis.emit(event);
    vi.advanceTimersByTime(100);
  }

  expect([warn.mock.calls, info.mock.calls]).toEqual([[['Redis is away']], [[{ ms: 300 }, 'Redis is back']]]);
});
