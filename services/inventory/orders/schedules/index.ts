// When a job runs by itself.

import type { JobSchedule } from '../../lab/contract.ts';
import { atTimesOf } from './cron.ts';
import { withFixedDelay } from './fixed-delay.ts';
import { atFixedRate } from './fixed-rate.ts';
import type { Schedule, ScheduledTick } from './schedule.ts';

const never: Schedule = { next: () => null, stop() {} };

/** Calls `tick`, which must not reject, whenever the schedule says so; never, when it is empty. */
export function startSchedule(
  { cron, fixedRateMs, fixedDelayMs }: JobSchedule,
  tick: (its: ScheduledTick) => Promise<void>,
): Schedule {
  if (cron !== undefined) return atTimesOf(cron, tick);
  if (fixedRateMs !== undefined) return atFixedRate(fixedRateMs, tick);
  return fixedDelayMs === undefined ? never : withFixedDelay(fixedDelayMs, tick);
}
