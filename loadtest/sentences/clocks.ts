// What is said of clocks that run slow, or jump.

import { deed } from '../narration/faults.ts';
import { told } from '../narration/steps.ts';
import { quorumOf } from './masters.ts';
import { mustBeSo, needing, type Playing, step } from './playing.ts';

export const clockSteps = [
  needing('node clocks')('the clock of <node> runs <count> % slow', async (playing, { node, count }) => {
    const slow = 1 - count / 100;
    const own = playing.faults.runClock(node, slow);
    const [from, ownFrom] = [playing.clock.now(), own()];
    // In the middle between a clock that is right and one that is as slow as this.
    mustBeSo(playing, () => {
      const isSlow = own() - ownFrom < ((1 + slow) / 2) * (playing.clock.now() - from);
      return isSlow || `The clock of ${node.name} was not slow.`;
    });
    playing.mark(deed('slow clock', { percent: count }), { node });
    return told('clock slowed', { node: node.name, percent: count });
  }),
  needing('links', 'clock server')('the clock of a server of the lock can be set', async (playing) => {
    playing.lentClock = await playing.faults.lendClock();
    const master = clockMasterOf(playing);
    // Where it takes the place of Redis, the stock is to be in it.
    if (master === undefined) await playing.first.setStock(playing.initialStock);
    return told('clock lent', { master });
  }),
  step('the clock of that server jumps ahead by a lease and <time>', async (playing, { time }) => {
    const [ms, master] = [playing.leaseMs + time, clockMasterOf(playing)];
    await playing.lentClock?.jump(ms);
    playing.mark(deed('clock jumps', { server: master ? `master ${master}` : 'Redis' }));
    return told('clock jumped', { master, ms });
  }),
];

/** The master whose clock can be set. Undefined where that of Redis can. */
const clockMasterOf = ({ lock: { masterCount } }: Playing) => (masterCount > 0 ? quorumOf(masterCount) : undefined);
