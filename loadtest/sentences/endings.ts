// Sentences about a sale that is inside: it stays, resumes, and ends.

import { isSame } from '../evidence/history.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import { NOT_REPLICATED } from '../harness/test-bed.ts';
import { deed } from '../narration/faults.ts';
import { type StepSentence, told } from '../narration/steps.ts';
import { type Actor, actorOf, breaks, insideOf, mend, mustBeInside, mustBeSo, type Playing, step } from './playing.ts';

export const steps = [
  step('<sale> <stays>', async (playing, { sale, stays }) => {
    const doesStall = stays === 'stalls inside the sale';
    breaks(playing, `${sale} stalls`, deed(doesStall ? 'stalls' : 'hangs'), { sale: insideOf(playing, sale) });
    return told(doesStall ? 'stalled' : 'hung', { sale });
  }),
  step('<sale> is still inside', async (playing, { sale }) => {
    mustBeInside(playing, insideOf(playing, sale));
    return told('was still inside', { sale });
  }),
  step('<sale> resumes', async (playing, { sale }) => {
    const { hasResumed } = await goOn(playing, sale);
    return hasResumed ? told('resumed', { sale }) : told('had nothing to resume', { sale });
  }),
  step('<sale> ends', async (playing, { sale }) => {
    const { ended, end } = actorOf(playing, sale).sale;
    return ended?.outcome === 'cutOff' ? told('had given up', { sale }) : howEnded(sale, await end);
  }),
  step('<sale> ends, or gives up after <limit>', async (playing, { sale, limit }) => {
    const end = await actorOf(playing, sale).sale.endWithin(limit);
    return end.outcome === 'cutOff' ? told('waited in vain', { sale, ms: end.ms }) : howEnded(sale, end);
  }),
  step('<sale> fails', (playing, { sale }) => answered(playing, sale, ['ORDER_FAILED'])),
  step('<sale> succeeds', (playing, { sale }) => answered(playing, sale, ['sold'])),
  step('<sale> succeeds, or is not replicated', (playing, { sale }) =>
    answered(playing, sale, ['sold', NOT_REPLICATED]),
  ),
  step('all sales end', async (playing) => told('all ended', { left: (await playing.outcome()).finalStock })),
];

/** The response to a sale, to a basket or to a reader of the stock. */
export function howEnded(sale: string, end: Awaited<Actor['sale']['end']>): StepSentence {
  switch (end.outcome) {
    case 'sold':
      if (end.sale === undefined) return told('was told that it had sold', { sale });
      return 'skus' in end.sale
        ? told('sold a basket', { sale, skus: end.sale.skus.map(({ sku }) => sku) })
        : told('sold', { sale, before: end.sale.stockBefore, after: end.sale.remaining });
    case 'looked':
      return told('was answered', { sale, remaining: end.remaining });
    case 'inDoubt':
      return told('was left in doubt', { sale, code: end.code });
    case 'nonsense':
      return told('was answered nonsense', { sale });
    case 'cutOff':
      return told('got no answer', { sale, ms: end.ms });
    default:
      return told('was refused', { sale, code: end.code });
  }
}

/** Resumes a sale that is held inside. Throws NotStagedError when it has already left. A sale that was kept out has nothing to resume. */
export async function goOn(playing: Playing, name: string, resume = actorOf(playing, name).node.resume) {
  const actor = actorOf(playing, name);
  const at = playing.clock.now();
  if (actor.held === undefined && actor.inside === undefined) return { at, hasResumed: false };
  mustStillWait(playing);
  actor.wentOnAt = at;
  await actor.held?.goOn();
  if (actor.inside) {
    mustBeInside(playing, actor.inside, at);
    // Redis may have answered a node that can't write yet, so what it has told is heard first.
    await playing.record.catchUp([actor.node]);
    actor.isHeld = false;
    mend(playing, `${name} stalls`);
    await resume();
  }
  return { at, hasResumed: true };
}

/** Demands at the end that no sale that should wait has entered by now. */
export function mustStillWait(playing: Playing) {
  const at = playing.clock.now();
  for (const { asks } of playing.actors.values()) {
    if (asks === undefined) continue;
    mustBeSo(playing, ({ events }) => {
      const isThrough = events.some((event) => event.type === 'entered' && event.at < at && isSame(event, asks));
      return !isThrough || `Sale ${asks.saleId} on ${asks.node} did not wait for the lock.`;
    });
  }
}

/** Waits for the response to a sale, and returns it as a step. Throws NotStagedError when it is not among these. */
async function answered(playing: Playing, name: string, expected: string[]) {
  const end = await actorOf(playing, name).sale.end;
  const answer = end.outcome === 'sold' ? 'sold' : 'code' in end ? end.code : end.outcome;
  if (answer === NOT_REPLICATED) playing.ending = 'if A is refused';
  // On a busy machine a replica is too slow to confirm, and a lease ends too soon.
  if (!expected.includes(answer)) throw new NotStagedError(`The sale got the response ${answer}.`);
  return howEnded(name, end);
}
