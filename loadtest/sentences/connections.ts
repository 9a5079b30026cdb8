// What is said of the lines between the nodes and their servers: slow, cut, and whole again.

import type { SaleEvent } from '../../services/inventory/sale/contract.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import { STEP_LIMIT_MS } from '../harness/test-bed.ts';
import { deed } from '../narration/faults.ts';
import { told } from '../narration/steps.ts';
import { backendOfRow } from '../staircase/lookup.ts';
import { breaks, mend, mustBeSo, needing, step } from './playing.ts';

const withLinks = needing('links');

export const connectionSteps = [
  withLinks('the line of <node> is slow: each answer of Redis comes <time> late', async (playing, { node, time }) => {
    playing.slowMs = time;
    const { over } = playing.faults.delayAnswers(node, playing.slowMs);
    breaks(playing, `the line of ${node.name} is slow`, deed('line slow'), { node }, over);
    return told('answers delayed', { node: node.name, ms: time });
  }),
  withLinks('<node> is cut off from the servers of its lock', async (playing, { node }) => {
    // What it had to ask before is answered.
    await playing.lock.hasAsked(node);
    const { restore } = playing.faults.cutOff(node);
    breaks(playing, `${node.name} is cut off`, deed('cut off from its lock'), { node }, restore);
    return told('cut off', { node: node.name });
  }),
  step('<node> has its line again', async (playing, { node }) => {
    mend(playing, `the line of ${node.name} is slow`);
    playing.faults.restore(node);
    return told('connection restored', { node: node.name });
  }),
  step('<node> reaches the servers of its lock again', async (playing, { node }) => {
    mend(playing, `${node.name} is cut off`);
    // The stock may be there, too: the write must not fail because the line has just come back.
    const isBack = await playing.record.waitFor(() => node.redis().catch(() => undefined), STEP_LIMIT_MS);
    if (!isBack) throw new NotStagedError(`${node.name} did not reach Redis again.`);
    // Who has no majority of masters is refused in these words, too, and rightly.
    if (backendOfRow(playing.stage) !== 'masters') {
      const at = playing.clock.now();
      mustBeSo(playing, ({ events }) => {
        const isTooEarly = (event: SaleEvent) =>
          event.node === node.name && event.at >= at && event.code === 'STORE_UNAVAILABLE';
        return !events.some(isTooEarly) || `${node.name} sold on before it could reach Redis again.`;
      });
    }
    return told('reached its lock again', { node: node.name });
  }),
];
