// A lease is held, renewed, lost and given up, and whoever has it knows.

import { NotStagedError } from '../../evidence/not-staged.ts';
import { countOf, formatDuration } from '../../narration/numbers.ts';
import type { LockUnderTest } from '../lock-under-test.ts';
import { doesNotApply, type End, Fault, holds, isNotHeld, saidOf } from '../outcome.ts';
import { type Holder, LEASE_MS, LONG_LEASE_MS, STEP_LIMIT_MS, type Staging } from '../staging.ts';

const LEASES = 20;
/** What the end of a lease takes until its holder has heard of it, in milliseconds: a command and its reply. */
const SLACK_MS = 5;

/** It is held for many leases: where it renews, nobody else enters. */
export const longHold = ({ stage, promises }: LockUnderTest) =>
  stage(async ({ two, endOf, say, now }) => {
    const { p, a, b } = two(LEASE_MS);
    await a.enters();
    const from = now();
    const entered = await endOf(b.acquire(), LEASES * LEASE_MS);
    if (entered.how === 'done') {
      say('B enters');
      const renewals = p.sentSince(from).length;
      const after = `B entered ${formatDuration(entered.ms)} after A, which was still inside, at a lease of ${LEASE_MS} ms`;
      if (renewals === 0 && !promises.renewal) return doesNotApply(`It does not renew its lease: ${after}.`);
      throw new Fault(`${after}, although A sent ${countOf(renewals, 'command')} meanwhile.`);
    }
    if (entered.how === 'rejected')
      throw new Fault(`A waiter gave up while A was inside: acquire() ${saidOf(entered)}.`);
    b.abort();
    await a.mustLeave(`After ${LEASES} leases`);
    return holds(`Held for ${LEASES} leases: nobody else entered.`);
  });

/** `lost` aborts within a lease of the loss: whether the key is gone, or Redis does not answer. */
export async function lost({ stage }: LockUnderTest) {
  const takenMs = await stage(async (staging) => {
    const { a, b } = staging.two(LEASE_MS, LONG_LEASE_MS);
    await a.enters();
    const since = staging.now();
    staging.endLease();
    await b.enters();
    return untilLost(staging, a, since, 'its key was deleted and taken by another');
  });
  const cutMs = await stage(async (staging) => {
    const p = staging.process();
    const a = p.holder('A', LEASE_MS);
    await a.enters();
    p.cut();
    staging.say('the line of A is cut');
    return untilLost(staging, a, staging.now(), 'its line to Redis was cut');
  });
  const said = `${formatDuration(takenMs)} after the key was deleted, and ${formatDuration(cutMs)} after the line was cut`;
  return holds(`\`lost\` aborted ${said}.`, { takenMs, cutMs });
}

/** How long after `since` it was lost. */
async function untilLost({ now, pass, say }: Staging, holder: Holder, since: number, fault: string): Promise<number> {
  await pass(since + LEASE_MS + SLACK_MS - now());
  const at = holder.lostAt();
  say(at === undefined ? '`lost` of A has not aborted' : '`lost` of A has aborted');
  if (at === undefined) throw new Fault(`\`lost\` had not aborted a lease after ${fault}.`);
  return at - since;
}

/** A renewal is rejected, since the connection breaks: the process lives on. */
export const failedRenewal = ({ stage }: LockUnderTest) =>
  stage(async ({ process, pass, say }) => {
    const p = process();
    const a = p.holder('A', LEASE_MS);
    await a.enters();
    const renewal = p.hold();
    await renewal.waits('A renews', LEASE_MS);
    p.cut('reset');
    say('the connection of A breaks, and the renewal is rejected');
    // Those that follow are rejected as well.
    await pass(LEASE_MS);
    p.restore();
    await pass(LEASE_MS / 2);
    await a.leaves();
    await pass(LEASE_MS);
    return holds('A renewal was rejected, and its process lives.');
  });

/** After its release a lock sends nothing more. */
export const quiet = ({ stage }: LockUnderTest) =>
  stage(async ({ process, pass, say, now }) => {
    const p = process();
    const a = p.holder('A', LEASE_MS);
    await a.enters();
    await pass(LEASE_MS / 2);
    await a.leaves();
    // What is on its way when it releases.
    await pass(100);
    const from = now();
    await pass(2 * LEASE_MS);
    const late = p.sentSince(from);
    if (late.length === 0) return holds('After its release it sent nothing in two leases.');
    say(`A sends ${late.map(({ command }) => command.script ?? command.name).join(', ')}`);
    throw new Fault(
      `After its release it sent ${countOf(late.length, 'command')} in two leases: something of it goes on.`,
    );
  });

const notHeldCases: Record<string, (staging: Staging) => Promise<End | undefined>> = {
  'which was never acquired': ({ process, endOf }) => endOf(process().holder('A').release(), STEP_LIMIT_MS),
  async 'which was released already'({ process }) {
    const a = process().holder('A');
    await a.enters();
    await a.leaves();
    return a.leaves();
  },
  async 'whose key was deleted'({ process, endLease }) {
    const a = process().holder('A');
    await a.enters();
    if (!endLease()) throw new NotStagedError('A is inside, and there is no key to delete.');
    return a.leaves();
  },
  async 'which another has by now'({ process, endLease }) {
    const [a, b] = [process().holder('A'), process().holder('B')];
    await a.enters();
    endLease();
    await b.enters();
    return a.leaves();
  },
  async 'whose line was cut for two leases'({ process, pass, leaseLeftMs }) {
    const p = process();
    const a = p.holder('A', LEASE_MS);
    await a.enters();
    p.cut();
    await pass(2 * LEASE_MS);
    const isOver = leaseLeftMs() === -2;
    p.restore();
    // A lock without a lease is still held.
    return isOver ? a.leaves() : undefined;
  },
};

/** release() of a lock that is not held rejects with LOCK_NOT_HELD, however it came about. */
export async function notHeld({ stage }: LockUnderTest) {
  for (const [name, run] of Object.entries(notHeldCases)) {
    await stage(async (staging) => {
      const end = await run(staging);
      if (end !== undefined && !isNotHeld(end))
        throw new Fault(`release() of a lock ${name} ${saidOf(end)}: it must reject with LOCK_NOT_HELD.`);
    });
  }
  return holds('release() rejects with LOCK_NOT_HELD whenever the lock is no longer held.');
}
