// What is said of the processes of the nodes: killed, stopped, or blocked.

import type { SaleEvent } from '../../services/inventory/sale/contract.ts';
import { isSame } from '../evidence/history.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import type { TargetNode } from '../harness/target.ts';
import { deed } from '../narration/faults.ts';
import { formatDuration } from '../narration/numbers.ts';
import { told } from '../narration/steps.ts';
import { actorOf, breaks, type Course, mend, mustBeInside, mustBeSo, needing, step } from './course.ts';
import { goOn } from './endings.ts';

/** What is stopped leaves a question unanswered for so long, in milliseconds. */
const SILENT_MS = 100;
const withProcesses = needing('node processes');

export const processSteps = [
  withProcesses('<node> is killed (SIGKILL)', async (course, { node }) => {
    const held = [...course.actors.values()].filter((actor) => actor.node === node && actor.isHeld);
    course.faultAt = await course.faults.kill(node);
    course.mark(deed('killed'), { node, at: course.faultAt });
    for (const actor of held) {
      actor.isHeld = false;
      if (actor.inside) mustBeInside(course, actor.inside, course.faultAt);
    }
    // What it recorded last may have died with it: the stock tells.
    const other = node === course.first ? course.second : course.first;
    const stock = await other.stock();
    mustBeSo(course, ({ initialStock }) => stock === initialStock || 'The holder had written already when it died.');
    return told('killed', { node: node.name });
  }),
  withProcesses('<node> is stopped (SIGSTOP)', async (course, { node }) => {
    const { comeBack } = course.faults.pause(node);
    breaks(course, `${node.name} is stopped`, deed('stopped'), { node, standsStill: true }, () => {
      mustLeaveAfter(course, node, course.clock.now(), 'The write did not fall into the pause.');
      comeBack();
    });
    if (!(await node.isSilentFor(SILENT_MS))) throw new NotStagedError(`${node.name} still answers after SIGSTOP.`);
    return told('paused', { node: node.name });
  }),
  step('<node> goes on (SIGCONT)', async (course, { node }) => {
    await mend(course, `${node.name} is stopped`);
    return told('process resumed', { node: node.name });
  }),
  step('<sale> goes on, and its node answers nothing', async (course, { sale }) => {
    const { node } = actorOf(course, sale);
    const mark = course.mark(deed('blocked'), { node, standsStill: true });
    const { at } = await goOn(course, sale);
    if (!(await node.isSilentFor(course.leaseMs / 4))) {
      throw new NotStagedError(`The event loop of ${node.name} was not blocked.`);
    }
    const blockMs = 2.5 * course.leaseMs;
    void actorOf(course, sale).sale.end.then(mark.over);
    const reason = `The event loop of ${node.name} was not blocked for ${formatDuration(blockMs)}.`;
    mustLeaveAfter(course, node, at + blockMs - 1, reason);
    return told('blocked the event loop', { sale, node: node.name });
  }),
];

/** Those of this node who are inside must leave, and not before this moment on the shared clock. */
function mustLeaveAfter(course: Course, node: TargetNode, at: number, otherwise: string) {
  for (const { node: its, inside } of course.actors.values()) {
    if (its !== node || inside === undefined) continue;
    mustBeInside(course, inside, at, otherwise);
    const hasLeft = (event: SaleEvent) => event.type === 'left' && isSame(event, inside);
    mustBeSo(course, ({ events }) => events.some(hasLeft) || otherwise);
  }
}
