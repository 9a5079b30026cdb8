// The schedules of a job. After a schedule's `stop` no run starts any more; a run in progress continues.

import type { JobSchedule } from '../contract.ts';
import { atTimesOf } from './cron.ts';
import { atEachTimeOf } from './cron-overlap.ts';
import { withFixedDelay } from './fixed-delay.ts';
import { atFixedRate, type Tick } from './fixed-rate.ts';

const never = { stop() {} };

/** Calls `tick`, which must not reject, whenever the schedule says so; never if it is empty. */
export function startSchedule({ cron, overlap, fixedRateMs, fixedDelayMs }: JobSchedule, tick: Tick) {
  if (cron !== undefined) return overlap ? atEachTimeOf(cron, tick) : atTimesOf(cron, tick);
  if (fixedRateMs !== undefined) return atFixedRate(fixedRateMs, tick);
  return fixedDelayMs === undefined ? never : withFixedDelay(fixedDelayMs, tick);
}
