// What is said of the lines between the nodes and their servers: slow, cut, and whole again.

import type { SaleEvent } from '../../services/inventory/sale/contract.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import { STEP_LIMIT_MS } from '../harness/test-bed.ts';
import { deed } from '../narration/faults.ts';
import { told } from '../narration/steps.ts';
import { backendOfRow } from '../staircase/lookup.ts';
import { breaks, mend, mustBeSo, needing, step } from './course.ts';

const withLinks = needing('links');

export const connectionSteps = [
  withLinks('the line of <node> is slow: each answer of Redis comes <time> late', async (course, { node, time }) => {
    course.slowMs = time;
    const { over } = course.faults.delayAnswers(node, course.slowMs);
    breaks(course, `the line of ${node.name} is slow`, deed('line slow'), { node }, over);
    return told('answers delayed', { node: node.name, ms: time });
  }),
  withLinks('<node> is cut off from the servers of its lock', async (course, { node }) => {
    // What it had to ask before is answered.
    await course.lock.hasAsked(node);
    const { restore } = course.faults.cutOff(node);
    breaks(course, `${node.name} is cut off`, deed('cut off from its lock'), { node }, restore);
    return told('cut off', { node: node.name });
  }),
  step('<node> has its line again', async (course, { node }) => {
    mend(course, `the line of ${node.name} is slow`);
    course.faults.restore(node);
    return told('connection restored', { node: node.name });
  }),
  step('<node> reaches the servers of its lock again', async (course, { node }) => {
    mend(course, `${node.name} is cut off`);
    // The stock may be there, too: the write must not fail because the line has just come back.
    const isBack = await course.record.waitFor(() => node.redis().catch(() => undefined), STEP_LIMIT_MS);
    if (!isBack) throw new NotStagedError(`${node.name} did not reach Redis again.`);
    // Who has no majority of masters is refused in these words, too, and rightly.
    if (backendOfRow(course.stage) !== 'masters') {
      const at = course.clock.now();
      mustBeSo(course, ({ events }) => {
        const isTooEarly = (event: SaleEvent) =>
          event.node === node.name && event.at >= at && event.code === 'STORE_UNAVAILABLE';
        return !events.some(isTooEarly) || `${node.name} sold on before it could reach Redis again.`;
      });
    }
    return told('reached its lock again', { node: node.name });
  }),
];
