// How long a holder believes that it holds, and how long it does; and what clocks that differ make of it.

import { formatDuration } from '../../narration/numbers.ts';
import { doesNotApply, Fault, holds, STEP_LIMIT_MS } from '../outcome.ts';
import { LEASE_MS, type LockUnderTest, type Staging } from '../staging.ts';

const LEASES_MS = [LEASE_MS, 1_900];
/** What is left of a lease when it is looked at may differ from it by so much of it. */
const TOLERANCE = 0.05;
const LATE_MS = 0.8 * LEASE_MS;
const WAIT_LEASES = 2.5;
/** A timer of the holder may be so late, in milliseconds. */
const SLACK_MS = 5;

export async function belief({ survey, stage }: LockUnderTest) {
  let hasEnd = true;
  for (const ms of LEASES_MS) hasEnd = await stage((staging) => endsAsAsked(staging, ms));
  await stage(waitsForLong);
  if (survey.hasLost) await stage(hearsLate);
  if (!hasEnd) return doesNotApply('Its key has no end.');
  return holds('Its lease is as long as was asked for, after a long wait, too, and it believes in it no longer.');
}

/** Resolves with false when it has no end. */
async function endsAsAsked({ process, servers }: Staging, leaseMs: number): Promise<boolean> {
  await process().holder('A', leaseMs).enters();
  const leftMs = servers.leaseLeftMs();
  if (leftMs < 0) return false;
  if (Math.abs(leftMs - leaseMs) <= TOLERANCE * leaseMs) return true;
  throw new Fault(`A lease of ${leaseMs} ms was asked for, and the key lasts ${leftMs} ms.`);
}

async function waitsForLong({ process, story }: Staging) {
  const [p, q] = [process(), process()];
  const [a, b, c] = [p.holder('A'), q.holder('B', LEASE_MS), p.holder('C', LEASE_MS)];
  await a.enters();
  const asked = b.acquire();
  await story.pass(WAIT_LEASES * LEASE_MS);
  await a.leaves();
  await story.endOf(asked, STEP_LIMIT_MS);
  story.say(`B enters, which has waited for ${WAIT_LEASES} leases`);
  if (b.isLost()) throw new Fault('A waiter that had waited for longer than a lease was lost as it entered.');
  await story.pass(LEASE_MS / 2);
  if (b.isLost() || !(await c.isKeptOut()))
    throw new Fault('A waiter that had waited for longer than a lease lost the lock half a lease after it entered.');
}

async function hearsLate({ process, story, servers }: Staging) {
  const p = process();
  const a = p.holder('A', LEASE_MS);
  p.delayReplies(LATE_MS);
  const entered = await story.endOf(a.acquire(), STEP_LIMIT_MS);
  // One that does not enter by so late a reply believes nothing.
  if (entered.how !== 'done') return;
  p.cut();
  const leftMs = Math.max(0, servers.leaseLeftMs());
  story.say(`A enters by a late reply, its line is cut, and its lease lasts ${formatDuration(leftMs)} more`);
  await story.pass(leftMs + SLACK_MS);
  if (!a.isLost())
    throw new Fault('A entered by a late reply, the lease was over in Redis, and `lost` had not aborted.');
}

const clocks = {
  'is ahead by a lease': { aheadMs: LEASE_MS },
  'is behind by a lease': { aheadMs: -LEASE_MS },
  'runs 10 % fast': { rate: 1.1 },
};

/** Each of them asks while another holds, and holds while another asks. */
export async function clock({ stage }: LockUnderTest) {
  for (const [name, ofClock] of Object.entries(clocks)) {
    await stage(async ({ process, story }) => {
      const [a, b] = [process().holder('A', LEASE_MS), process(ofClock).holder('B', LEASE_MS)];
      const holdsAgainst = [
        [a, b],
        [b, a],
      ] as const;
      for (const [holder, other] of holdsAgainst) {
        await holder.enters();
        await story.pass(LEASE_MS / 10);
        await other.mustStayOut(`${other.name} entered while ${holder.name} was inside. The clock of B ${name}.`);
        await holder.leaves();
      }
    });
  }
  return holds('A clock that is a lease ahead or behind, or 10 % fast, lets nobody in.');
}
