// A lock is held for six leases: where it renews, nobody else enters.

import { formatDuration } from '../../../evidence/numbers.ts';
import { type Bed, LEASE_MS, STEP_LIMIT_MS } from '../bed.ts';
import { namesKey } from '../lock-node.ts';
import { doesNotApply, endOf, fails, holds, saidOf } from '../outcome.ts';

const LEASES = 6;

export async function longHold(bed: Bed) {
  const trial = bed.trial();
  const [a, b] = [await trial.holder(0, LEASE_MS), await trial.holder(1, LEASE_MS)];
  await trial.enter(a, 'A');
  const from = a.client.seen.length;
  const asked = b.acquire();
  const entered = await endOf(asked, LEASES * LEASE_MS);
  if (entered.how === 'done') {
    trial.say('B enters');
    await endOf(b.release(), STEP_LIMIT_MS);
    const renewals = a.client.seen.slice(from).filter(({ command }) => namesKey(command, trial.key)).length;
    const after = `B entered ${formatDuration(entered.ms)} after A, which was still inside, at a lease of ${LEASE_MS} ms`;
    if (renewals === 0 && !bed.promises.renewal) return doesNotApply(`It does not renew its lease: ${after}.`);
    return fails(`${after}, although A sent ${renewals} commands meanwhile.`, trial.steps);
  }
  if (entered.how === 'rejected')
    return fails(`A waiter gave up while A was inside: acquire() ${saidOf(entered)}.`, trial.steps);
  await b.abort();
  const left = await endOf(a.release(), STEP_LIMIT_MS);
  if (left.how !== 'done') return fails(`After ${LEASES} leases release() ${saidOf(left)}.`, trial.steps);
  return holds(`Held for ${LEASES} leases: nobody else entered.`);
}
