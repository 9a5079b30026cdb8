// What is said of the lines between the nodes and their servers, and of commands on them: slow, cut and whole again; held up, and late.

import type { SaleEvent } from '../../services/inventory/sale/contract.ts';
import { isSame, type SaleName } from '../evidence/history.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import type { TargetNode } from '../harness/target.ts';
import { STEP_LIMIT_MS } from '../harness/test-bed.ts';
import { deed } from '../narration/faults.ts';
import { told } from '../narration/steps.ts';
import { backendOfRow } from '../staircase/lookup.ts';
import { goOn } from './endings.ts';
import { actorOf, breaks, insideOf, mend, mustBeSo, needing, type Playing, step } from './playing.ts';

const withLinks = needing('links');

export const steps = [
  // Lines.
  withLinks(
    'the connection of <node> is slow: each reply from Redis is <time> late',
    async (playing, { node, time }) => {
      playing.slowMs = time;
      const { over } = playing.faults.delayAnswers(node, playing.slowMs);
      breaks(playing, `the connection of ${node.name} is slow`, deed('line slow'), { node }, over);
      return told('answers delayed', { node: node.name, ms: time });
    },
  ),
  withLinks('<node> is cut off from the servers of its lock', async (playing, { node }) => {
    // What it had to ask before is answered.
    await playing.lock.hasAsked(node);
    const { restore } = playing.faults.cutOff(node);
    breaks(playing, `${node.name} is cut off`, deed('cut off from its lock'), { node }, restore);
    return told('cut off', { node: node.name });
  }),
  step('the connection of <node> is restored', async (playing, { node }) => {
    mend(playing, `the connection of ${node.name} is slow`);
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

  // Commands that are held up on their way, and arrive late.
  withLinks('<sale> resumes, and its <command> is held on the way to Redis', async (playing, { sale, command }) => {
    await holdUp(playing, sale, command);
    return told(command === 'write' ? 'write held' : 'release held', { sale });
  }),
  withLinks(
    '<sale> resumes, and the next write of <node> is held on the way to Redis',
    async (playing, { sale, node }) => {
      await holdUp(playing, sale, 'write', node);
      return told('write of the node held', { sale, node: node.name });
    },
  ),
  step('the write of <sale> arrives', async (playing, { sale }) => {
    const late = insideOf(playing, sale);
    const stockBefore = await playing.second.stock();
    const arrivesAt = playing.clock.now();
    await mend(playing, 'command held');
    playing.mark(deed('late write arrives'), { sale: late });
    for (const { isHeld, inside } of playing.actors.values()) if (isHeld && inside) mustHaveRead(playing, inside);
    mustBeSo(playing, ({ events, initialStock }) => {
      const read = events.find(({ type, node, at }) => type === 'read' && node !== late.node && at < arrivesAt);
      return read === undefined || read.stock === initialStock || 'The write was not held up.';
    });
    // It would write what is there already.
    if (playing.figures['soldMeanwhile'] === 1) throw new NotStagedError('Only one unit was sold meanwhile.');
    const stockAfter = await playing.second.stock();
    if (stockBefore === undefined || stockAfter === undefined)
      throw new NotStagedError('There is no stock to be read.');
    if (stockAfter === stockBefore) return told('late write refused', { sale, stock: stockBefore });
    playing.wroteLate.push(late);
    return told('late write', { sale, before: stockBefore, after: stockAfter });
  }),
  step('the lease of <sale> ends', async (playing, { sale }) => {
    const { release } = playing;
    const found = await playing.faults.endLease();
    playing.mark(deed('lease ends'), { sale: insideOf(playing, sale) });
    // An earlier command of the release may have freed the lock. A single one can't have.
    if (found === 'free' && release?.isOneOfSeveral === false) {
      throw new NotStagedError('The lock was free before the lease was over, so the release was not late.');
    }
    return told(howLeasesEnd[found], { sale });
  }),
  step('the release of <sale> arrives', async (playing, { sale }) => {
    await mend(playing, 'command held');
    return told('late release', { sale });
  }),
  step('the write of <node> arrives', async (playing, { node }) => {
    await mend(playing, 'command held');
    return told('late write of the node', { node: node.name });
  }),
];

/** How the lease of a sale ended that was made to. */
const howLeasesEnd = { ended: 'lease ended', endless: 'lease has no end', free: 'no lease' } as const;

/** Lets a sale go on, whose next such command is held on its line; or that of another node. */
async function holdUp(playing: Playing, name: string, what: 'write' | 'release', other?: TargetNode) {
  const { wire, release = { isMeant: wire.isRelease } } = playing;
  const node = other ?? actorOf(playing, name).node;
  const isMeant = what === 'write' ? wire.isStockWrite : release.isMeant;
  const command = await playing.faults.holdOnItsWay(node, isMeant, async () => void (await goOn(playing, name)));
  const hit = other ? { node } : { sale: insideOf(playing, name) };
  breaks(playing, 'command held', deed('held', { command: what }), hit, command.goOn);
}

/** Another who is inside when a late write comes has read the stock, and has not yet written. */
function mustHaveRead(playing: Playing, inside: SaleName) {
  const { saleId, node } = inside;
  const at = playing.clock.now();
  mustBeSo(playing, ({ events, ends }) => {
    const own = events.filter((event) => isSame(event, inside));
    const [read, wrote, failed] = ['read', 'wrote', 'failed'].map((type) => own.find((event) => event.type === type));
    if (read === undefined || read.at > at) {
      const reason = `Sale ${saleId} had not read the stock when the late write came: its reading and its writing are one step.`;
      throw new NotStagedError(reason, { nothingToBreak: true });
    }
    if (own.some((event) => ['wrote', 'left'].includes(event.type) && event.at < at)) {
      return `Sale ${saleId} on ${node} was not inside any more when the late write came.`;
    }
    return Boolean(wrote ?? failed) || ends.length === 0 || `Sale ${saleId} was neither written nor refused.`;
  });
}
