// After its release a lock sends nothing more.

import { setTimeout as sleep } from 'node:timers/promises';
import { countOf } from '../../../evidence/numbers.ts';
import { type Bed, LEASE_MS, STEP_LIMIT_MS } from '../bed.ts';
import { namesKey } from '../lock-node.ts';
import { endOf, fails, holds } from '../outcome.ts';

/** What is on its way when it releases, in milliseconds. */
const TRAILING_MS = 100;

export async function quiet(bed: Bed) {
  const trial = bed.trial();
  const a = await trial.holder(0, LEASE_MS);
  await trial.enter(a, 'A');
  await sleep(LEASE_MS / 2);
  await endOf(a.release(), STEP_LIMIT_MS);
  trial.say('A releases');
  await sleep(TRAILING_MS);
  const from = a.client.seen.length;
  await sleep(2 * LEASE_MS);
  const late = a.client.seen.slice(from).filter(({ command }) => namesKey(command, trial.key));
  if (late.length === 0) return holds('After its release it sent nothing in two leases.');
  trial.say(`A sends ${late.map(({ command }) => command.script ?? command.name).join(', ')}`);
  return fails(
    `After its release it sent ${countOf(late.length, 'command')} in two leases: something of it goes on.`,
    trial.steps,
  );
}
