// Every key that the lock uses begins with the key that it is given, and is in the same cluster slot.

import { listOf } from '../../../evidence/numbers.ts';
import { type Bed, STEP_LIMIT_MS } from '../bed.ts';
import { doesNotApply, endOf, fails, holds } from '../outcome.ts';

const useIt = 'use the key that you are given, and begin the names of further keys with it';

export async function keys(bed: Bed) {
  const trial = bed.trial();
  const [a, b] = [await trial.holder(0), await trial.holder(1)];
  await trial.enter(a, 'A');
  // One waits as well: that may take a key of its own.
  await trial.isKeptOut(b, 'B');
  await endOf(a.release(), STEP_LIMIT_MS);
  const used = new Set<string>();
  for (const { command } of [...a.client.seen, ...b.client.seen]) {
    for (const key of await trial.keysOf(command)) used.add(key);
  }
  if (used.size === 0) return doesNotApply('It sends Redis no command that has a key.');
  const foreign = [...used].filter((key) => !key.startsWith(trial.key));
  if (foreign.length > 0) return fails(`It uses ${listOf(foreign.slice(0, 3))}: ${useIt}.`, trial.steps);
  const tag = hashTag(trial.key);
  const elsewhere = [...used].filter((key) => hashTag(key) !== tag);
  if (elsewhere.length > 0) {
    return fails(`${listOf(elsewhere.slice(0, 3))} and ${trial.key} may be on two servers of a Cluster: ${useIt}.`);
  }
  return holds(`All its keys begin with the key that it is given: ${used.size} of them.`);
}

/** The part of a key that says which slot it is in. https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/ */
function hashTag(key: string) {
  return /^[^{]*\{([^}]+)\}/.exec(key)?.[1] ?? key;
}
