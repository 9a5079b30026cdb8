// Ten waiters ask one after the other on two nodes, and one asks when the holder releases: the order in which they enter, judged where it is promised.

import { setTimeout as sleep } from 'node:timers/promises';
import { NotStagedError } from '../../../evidence/not-staged.ts';
import { countOf } from '../../../evidence/numbers.ts';
import { type Bed, LONG_LEASE_MS } from '../bed.ts';
import type { LockObject } from '../lock-node.ts';
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
    Array.from({ length: WAITERS }, (_, at) => clients[at % 2 === 0 ? 0 : 1].make({ key, leaseMs: LONG_LEASE_MS })),
  );
  // On the connection of the holder: what it sends after a release is with Redis before anybody that the release wakes.
  const newcomer = await holder.client.make({ key, leaseMs: LONG_LEASE_MS });
  await trial.enter(holder, 'A');
  const entered: number[] = [];
  const serve = async (waiter: LockObject, place: number) => {
    await waiter.acquire();
    entered.push(place);
    await waiter.release();
  };
  const served: Promise<void>[] = [];
  for (const [at, waiter] of waiters.entries()) {
    served.push(handled(serve(waiter, at + 1)));
    // It is answered when the waiter has asked.
    await waiter.look();
    await sleep(APART_MS);
  }
  const released = holder.release();
  served.push(handled(serve(newcomer, WAITERS + 1)));
  const end = await endOf(Promise.all([released, ...served]), LIMIT_MS);
  if (end.how !== 'done') throw new NotStagedError(`${entered.length} of ${WAITERS + 1} waiters entered.`);

  const overtaken = entered.reduce(
    (sum, waiter, at) => sum + entered.slice(at + 1).filter((later) => later < waiter).length,
    0,
  );
  const said = `Ten waiters on two nodes, and one that came at the release, entered in the order ${entered.join(', ')}: overtaken ${countOf(overtaken, 'time')}.`;
  if (bed.promises.fairness !== 'order') return doesNotApply(`${said} It does not promise an order.`, { overtaken });
  return overtaken === 0 ? holds(said, { overtaken }) : fails(said, [], { overtaken });
}

/** It may reject before anybody waits for it. */
function handled(serving: Promise<void>) {
  serving.catch(() => {});
  return serving;
}
