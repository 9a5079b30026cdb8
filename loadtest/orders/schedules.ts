// The test bed of a drill of the schedules: a node whose ticks come by themselves, and one of them that takes long.

import { NotStagedError } from '../evidence/not-staged.ts';
import { PERIOD_MS, schedules } from '../staircase/schedules.ts';
import { shortNameOf } from '../staircase/staircase.ts';
import { asDrillOn, type OrderDrill, openShop, type ShopOptions, STEP_LIMIT_MS } from './shop.ts';

/** A slow tick takes so many periods: three more are due meanwhile, and the fourth not so soon after it. */
const SLOW_PERIODS = 3.6;

export type ScheduleDrill = OrderDrill<ScheduleTestBed>;
export type ScheduleTestBed = Awaited<ReturnType<typeof openScheduled>>;

/** A shop of whose nodes the first ticks by itself, when the drill says so. */
async function openScheduled(options: ShopOptions) {
  const kind = shortNameOf(options.stage);
  const shop = await openShop(options);
  const { first } = shop;

  return {
    ...shop,
    /** Starts the schedule, whose first tick is held. Resolves when three more were due. */
    async haveSlowTick() {
      await shop.step(`${first.name} ticks by itself, once a second: ${kind}.`);
      await first.setGuard('none');
      await first.scriptTick({ after: 'read', orders: 1 });
      await first.setSchedule(schedules[kind] ?? {});
      const isHeld = async () => (await first.ticks()).held === 1;
      await shop.until(`No tick of ${first.name} came by itself and stayed.`, isHeld, STEP_LIMIT_MS);
      await shop.say(`The first tick is under way, and takes longer than ${Math.floor(SLOW_PERIODS)} seconds.`);
      // From when it began: on a busy machine it is seen later, and one more would be due meanwhile.
      const [slow = { beganAt: Date.now() }] = (await first.ticks()).scheduled;
      await shop.rest(Math.max(0, slow.beganAt + SLOW_PERIODS * PERIOD_MS - Date.now()));
      if (!(await isHeld())) throw new NotStagedError(`The first tick of ${first.name} did not take so long.`);
    },
    /** The ticks that have begun since the schedule was started. */
    ticks: async () => (await first.ticks()).scheduled,
    async close() {
      // No tick may begin when all that were under way have ended.
      await first.setSchedule({}).finally(() => shop.close(() => first.setGuard('conditional')));
      return { events: [], told: shop.emitted };
    },
  };
}

/** A tick that is late by a good part of a period may be so because the machine stood still. */
export const asScheduleDrill = (drill: ScheduleDrill) => asDrillOn(openScheduled)({ leaseMs: PERIOD_MS, ...drill });
