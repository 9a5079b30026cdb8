// One waiter against a node that always has one: how long until it is inside, judged where fairness is promised.

import { setTimeout as sleep } from 'node:timers/promises';
import { countOf, formatDuration } from '../../../evidence/numbers.ts';
import { type Bed, STEP_LIMIT_MS } from '../bed.ts';
import { doesNotApply, endOf, fails, holds } from '../outcome.ts';

const CONTENDERS = 3;
const HOLD_MS = 2;
const WARM_UP_MS = 100;
/** The lease, in milliseconds: so long that a slow machine does not decide. */
const LEASE_MS = 2_000;
const LIMIT_MS = 1.2 * LEASE_MS;

export async function turn(bed: Bed) {
  const trial = bed.trial();
  const rivals = await trial.client(0);
  const b = await trial.holder(1, LEASE_MS);
  const contention = await rivals.contend({
    key: trial.key,
    leaseMs: LEASE_MS,
    contenders: CONTENDERS,
    holdMs: HOLD_MS,
  });
  await sleep(WARM_UP_MS);
  const before = await contention.entries();
  const asked = b.acquire();
  const end = await endOf(asked, LIMIT_MS);
  const others = (await contention.entries()) - before;
  if (end.how !== 'done') await b.abort();
  else await endOf(b.release(), STEP_LIMIT_MS);
  await endOf(contention.rest(), LIMIT_MS);
  if (end.how === 'pending')
    await endOf(
      asked.then(() => b.release()),
      STEP_LIMIT_MS,
    );

  const meanwhile = `while the other node, which always wanted it, entered ${countOf(others, 'time')}`;
  const isInside = end.how === 'done';
  const said = isInside
    ? `A waiter was inside after ${formatDuration(end.ms)}`
    : `A waiter was not inside after ${formatDuration(LIMIT_MS)}`;
  const figures = { others, ...(isInside && { turnMs: end.ms }) };
  const sentence = `${said}, ${meanwhile}.`;
  if (bed.promises.fairness === undefined) return doesNotApply(`${sentence} It does not promise fairness.`, figures);
  return isInside && end.ms <= LEASE_MS
    ? holds(sentence, figures)
    : fails(`${sentence} The lease is ${LEASE_MS} ms.`, [], figures);
}
