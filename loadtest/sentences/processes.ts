// Sentences about processes that are killed, paused or blocked, and about clocks that run slow or jump.

import type { SaleEvent } from '../../services/inventory/sale/contract.ts';
import { isSame } from '../evidence/history.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import type { TargetNode } from '../harness/target.ts';
import { deed } from '../narration/faults.ts';
import { formatDuration } from '../narration/numbers.ts';
import { told } from '../narration/steps.ts';
import { goOn } from './endings.ts';
import { quorumOf } from './masters.ts';
import { actorOf, breaks, mend, mustBeInside, mustBeSo, needing, type Playing, step } from './playing.ts';

/** How long a paused process must leave a request without a response, in milliseconds. */
const SILENT_MS = 100;
const withProcesses = needing('node processes');

export const steps = [
  withProcesses('<node> is killed (SIGKILL)', async (playing, { node }) => {
    const held = [...playing.actors.values()].filter((actor) => actor.node === node && actor.isHeld);
    playing.faultAt = await playing.faults.kill(node);
    playing.mark(deed('killed'), { node, at: playing.faultAt });
    for (const actor of held) {
      actor.isHeld = false;
      if (actor.inside) mustBeInside(playing, actor.inside, playing.faultAt);
    }
    if (held.length === 0) return told('killed', { node: node.name });
    // What it recorded last may have died with it: the stock tells.
    const other = node === playing.first ? playing.second : playing.first;
    const stock = await other.stock();
    const sold = playing.sales.all.filter(({ ended }) => ended?.outcome === 'sold').length;
    const isAsBefore = stock === playing.initialStock - sold;
    mustBeSo(playing, () => isAsBefore || 'The holder had already written when it died.');
    return told('killed', { node: node.name });
  }),
  withProcesses('<node> is paused (SIGSTOP)', async (playing, { node }) => {
    const { comeBack } = playing.faults.pause(node);
    breaks(playing, `${node.name} is stopped`, deed('stopped'), { node, standsStill: true }, () => {
      mustLeaveAfter(playing, node, playing.clock.now(), 'The write did not happen after the pause.');
      comeBack();
    });
    if (!(await node.isSilentFor(SILENT_MS))) throw new NotStagedError(`${node.name} still responds after SIGSTOP.`);
    return told('paused', { node: node.name });
  }),
  step('<node> resumes (SIGCONT)', async (playing, { node }) => {
    await mend(playing, `${node.name} is stopped`);
    return told('process resumed', { node: node.name });
  }),
  step('<sale> resumes, and its node stops responding', async (playing, { sale }) => {
    const { node } = actorOf(playing, sale);
    const mark = playing.mark(deed('blocked'), { node, standsStill: true });
    const { at } = await goOn(playing, sale);
    if (!(await node.isSilentFor(playing.leaseMs / 4))) {
      throw new NotStagedError(`The event loop of ${node.name} was not blocked.`);
    }
    const blockMs = 2.5 * playing.leaseMs;
    void actorOf(playing, sale).sale.end.then(mark.over);
    const reason = `The event loop of ${node.name} was not blocked for ${formatDuration(blockMs)}.`;
    mustLeaveAfter(playing, node, at + blockMs - 1, reason);
    return told('blocked the event loop', { sale, node: node.name });
  }),

  // Clocks.
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

/** Demands that the sales of this node that are inside leave, and not before this moment on the shared clock. */
function mustLeaveAfter(playing: Playing, node: TargetNode, at: number, otherwise: string) {
  for (const { node: its, inside } of playing.actors.values()) {
    if (its !== node || inside === undefined) continue;
    mustBeInside(playing, inside, at, otherwise);
    const hasLeft = (event: SaleEvent) => event.type === 'left' && isSame(event, inside);
    mustBeSo(playing, ({ events }) => events.some(hasLeft) || otherwise);
  }
}

/** The master whose clock can be set. Undefined when it is the clock of Redis. */
const clockMasterOf = ({ lock: { masterCount } }: Playing) => (masterCount > 0 ? quorumOf(masterCount) : undefined);
