import type { RedisOptions } from 'ioredis';
import { ANSWER_LIMIT_MS } from '../../locks/drivers/answer-limit.ts';

const RECONNECT_DELAY_MS = 100;

/** While Redis is away a command rejects, and none is kept to be sent later. */
export const redisOptions = {
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  socketTimeout: ANSWER_LIMIT_MS,
  connectTimeout: ANSWER_LIMIT_MS,
  retryStrategy: () => RECONNECT_DELAY_MS,
  // A Redis that reads its data after a restart says how long that may take, and its guess may be ten seconds too long.
  maxLoadingRetryTime: RECONNECT_DELAY_MS,
} satisfies RedisOptions;
