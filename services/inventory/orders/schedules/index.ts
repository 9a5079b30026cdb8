// When a job runs by itself. After `stop` of a schedule no tick begins any more, and one that is under way goes on.

import type { JobSchedule } from '../contract.ts';
import { atTimesOf } from './cron.ts';
import { atEachTimeOf } from './cron-overlap.ts';
import { withFixedDelay } from './fixed-delay.ts';
import { atFixedRate, type Tick } from './fixed-rate.ts';

const never = { stop() {} };

/** Calls `tick`, which must not reject, whenever the schedule says so; never, when it is empty. */
export function startSchedule({ cron, overlap, fixedRateMs, fixedDelayMs }: JobSchedule, tick: Tick) {
  if (cron !== undefined) return overlap ? atEachTimeOf(cron, tick) : atTimesOf(cron, tick);
  if (fixedRateMs !== undefined) return atFixedRate(fixedRateMs, tick);
  return fixedDelayMs === undefined ? never : withFixedDelay(fixedDelayMs, tick);
}
