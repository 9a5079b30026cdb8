// What is said of clocks that run slow, or jump.

import { deed } from '../narration/faults.ts';
import { told } from '../narration/steps.ts';
import { mustBeSo, needing, step } from './course.ts';
import { quorumOf } from './masters.ts';

export const clockSteps = [
  needing('node clocks')('the clock of <node> runs <count> % slow', async (course, { node, count }) => {
    const slow = 1 - count / 100;
    const own = course.faults.runClock(node, slow);
    const [from, ownFrom] = [course.clock.now(), own()];
    // In the middle between a clock that is right and one that is as slow as this.
    mustBeSo(course, () => {
      const isSlow = own() - ownFrom < ((1 + slow) / 2) * (course.clock.now() - from);
      return isSlow || `The clock of ${node.name} was not slow.`;
    });
    course.mark(deed('slow clock', { percent: count }), { node });
    return told('clock slowed', { node: node.name, percent: count });
  }),
  needing('links', 'clock server')('the clock of a server of the lock can be set', async (course) => {
    course.lentClock = await course.faults.lendClock();
    if (course.lock.masterCount > 0)
      return told('clock lent to a master', { master: quorumOf(course.lock.masterCount) });
    // Where it takes the place of Redis, the stock is to be in it.
    await course.first.setStock(course.initialStock);
    return told('clock lent to Redis');
  }),
  step(
    'the clock of that server jumps ahead by a lease and <time>',
    async ({ lentClock, leaseMs, lock: { masterCount }, mark }, { time }) => {
      const [ms, master] = [leaseMs + time, quorumOf(masterCount)];
      await lentClock?.jump(ms);
      mark(deed('clock jumps', { server: masterCount > 0 ? `master ${master}` : 'Redis' }));
      return masterCount > 0 ? told('clock of a master jumped', { master, ms }) : told('clock of Redis jumped', { ms });
    },
  ),
];
