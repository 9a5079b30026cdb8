// A renewal is rejected, since the connection breaks: the process lives on.

import { setTimeout as sleep } from 'node:timers/promises';
import { type Bed, LEASE_MS, STEP_LIMIT_MS } from '../bed.ts';
import { doesNotApply, endOf, fails, holds, NodeBroken } from '../outcome.ts';

export async function failedRenewal(bed: Bed) {
  const trial = bed.trial();
  const node = await bed.startNode();
  const a = await trial.holder(node, LEASE_MS);
  await trial.enter(a, 'A');
  const renewal = a.client.hold(0);
  if ((await endOf(renewal.arrived, LEASE_MS)).how !== 'done') {
    renewal.drop();
    return doesNotApply('It sends nothing while it holds: it does not renew.');
  }
  trial.say(`the ${(await renewal.arrived).name} by which A renews is held on its way`);
  try {
    for (const link of a.client.links) link.cut();
    trial.say('the connection of A breaks, and the renewal is rejected');
    // Those that follow are rejected as well.
    await sleep(LEASE_MS);
    await node.check();
    for (const link of a.client.links) link.restore();
    renewal.drop();
    await sleep(LEASE_MS / 2);
    await endOf(a.release(), STEP_LIMIT_MS);
    await node.check();
  } catch (error) {
    if (!(error instanceof NodeBroken)) throw error;
    return fails(`A renewal was rejected, and ${error.message}`, trial.steps);
  }
  return holds('A renewal was rejected, and its process lives.');
}
