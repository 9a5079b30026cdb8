// Ten waiters ask one after the other on two nodes: the order in which they enter, judged where it is promised.

import { setTimeout as sleep } from 'node:timers/promises';
import { NotStagedError } from '../../../evidence/not-staged.ts';
import { countOf } from '../../../evidence/numbers.ts';
import { type Bed, STEP_LIMIT_MS } from '../bed.ts';
import { doesNotApply, endOf, fails, holds } from '../outcome.ts';

const WAITERS = 10;
/** Between one asking and the next, in milliseconds. */
const APART_MS = 30;
const LIMIT_MS = 10_000;

export async function order(bed: Bed) {
  const trial = bed.trial();
  const { key } = trial;
  const holder = await trial.holder(0);
  const clients = [await trial.client(0), await trial.client(1)] as const;
  const waiters = await Promise.all(
    Array.from({ length: WAITERS }, (_, at) => clients[at % 2 === 0 ? 0 : 1].make({ key, leaseMs: 10_000 })),
  );
  await trial.enter(holder, 'A');
  const entered: number[] = [];
  const served = waiters.map(async (waiter, at) => {
    await sleep(at * APART_MS);
    await waiter.acquire();
    entered.push(at + 1);
    await waiter.release();
  });
  await sleep((WAITERS + 1) * APART_MS);
  await endOf(holder.release(), STEP_LIMIT_MS);
  const end = await endOf(Promise.all(served), LIMIT_MS);
  if (end.how !== 'done') throw new NotStagedError(`${entered.length} of ${WAITERS} waiters entered.`);

  const overtaken = entered.reduce(
    (sum, waiter, at) => sum + entered.slice(at + 1).filter((later) => later < waiter).length,
    0,
  );
  const said = `Ten waiters on two nodes entered in the order ${entered.join(', ')}: overtaken ${countOf(overtaken, 'time')}.`;
  if (bed.promises.fairness !== 'order') return doesNotApply(`${said} It does not promise an order.`, { overtaken });
  return overtaken === 0 ? holds(said, { overtaken }) : fails(said, [], { overtaken });
}
