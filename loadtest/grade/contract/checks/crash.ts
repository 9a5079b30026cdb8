// A process is killed after each command of acquire(): its lock comes to an end, and another holder enters.

import { NotStagedError } from '../../../evidence/not-staged.ts';
import { formatDuration } from '../../../evidence/numbers.ts';
import { type Bed, LEASE_MS, STEP_LIMIT_MS } from '../bed.ts';
import type { LockNode } from '../lock-node.ts';
import { endOf, fails, holds } from '../outcome.ts';

/** Within so many leases another is inside. */
export const TAKEOVER_LEASES = 1.5;
/** How long it is waited for, in leases, before it counts as never. */
const WAIT_LEASES = 3;

export async function crash(bed: Bed) {
  const victim = await bed.startNode();
  const stagings = await Promise.all(bed.survey.acquire.map((_, at) => stage(bed, victim, at)));
  await victim.kill();
  const killedAt = performance.now();
  const takeovers = await Promise.all(stagings.map((staging) => staging.takeOver(killedAt)));
  const late = takeovers.find((takeover) => takeover.outcome !== undefined);
  const takeoverMs = Math.max(...takeovers.map(({ ms }) => ms));
  return (
    late?.outcome ??
    holds(`Another entered ${formatDuration(takeoverMs)} after the crash at the latest.`, { takeoverMs })
  );
}

/** The process of A stands after the command at this place, when it resolves. */
async function stage(bed: Bed, victim: LockNode, at: number) {
  const { acquire } = bed.survey;
  const trial = bed.trial();
  const [a, b] = [await trial.holder(victim, LEASE_MS), await trial.holder(1, LEASE_MS)];
  const isInside = at === acquire.length - 1;
  const held = isInside ? undefined : a.client.hold(at + 1);
  if (held === undefined) await trial.enter(a, 'A');
  else {
    void a.acquire();
    if ((await endOf(held.arrived, STEP_LIMIT_MS)).how !== 'done') {
      throw new NotStagedError(`Command ${at + 2} of acquire() did not come.`);
    }
    trial.say(`A has sent its ${acquire[at]?.name}, and its ${acquire[at + 1]?.name} is held on its way`);
  }

  return {
    async takeOver(killedAt: number) {
      held?.drop();
      trial.say('the process of A is killed');
      const entered = await endOf(b.acquire(), WAIT_LEASES * LEASE_MS);
      const ms = performance.now() - killedAt;
      if (entered.how === 'done') {
        trial.say('B enters');
        await endOf(b.release(), STEP_LIMIT_MS);
        if (ms <= TAKEOVER_LEASES * LEASE_MS) return { ms, outcome: undefined };
      }
      const isEndless = (await trial.leaseLeftMs()) === -1;
      if (entered.how !== 'done') await b.abort();
      const when = isInside ? 'A was killed while it was inside' : `A was killed after its ${acquire[at]?.name}`;
      const after =
        entered.how === 'done'
          ? `B entered only ${formatDuration(ms)} later`
          : `nobody entered in ${formatDuration(ms)}`;
      return { ms, outcome: fails(`${when}: ${after}${isEndless ? '; the key has no end' : ''}.`, trial.steps) };
    },
  };
}
