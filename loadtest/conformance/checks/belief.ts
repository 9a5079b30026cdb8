// How long a holder believes that it holds, and how long it does; and what clocks that differ make of it.

import { formatDuration } from '../../narration/numbers.ts';
import { doesNotApply, Fault, holds, STEP_LIMIT_MS } from '../outcome.ts';
import { LEASE_MS, type LockUnderTest, type Staging } from '../staging.ts';

const LEASES_MS = [LEASE_MS, 1_900];
/** The end of a lease may differ from what was asked for by so much of it. */
const TOLERANCE = 0.05;
const LATE_MS = 0.8 * LEASE_MS;
const WAIT_LEASES = 2.5;
/** Who has not entered after so many leases never does. */
const NEVER_LEASES = 3;
/** How long one looks whether the lock is free, in milliseconds. */
const MOMENT_MS = 10;
/** A timer of the holder may be so late, in milliseconds. */
const SLACK_MS = 5;

export async function belief({ survey, stage }: LockUnderTest) {
  let hasEnd = true;
  for (const ms of LEASES_MS) hasEnd = await stage((staging) => endsAsAsked(staging, ms));
  await stage(waitsForLong);
  if (survey.hasLost) await stage(hearsLate);
  if (!hasEnd) return doesNotApply('Its lease has no end.');
  return holds('Its lease is as long as was asked for, after a long wait, too, and it believes in it no longer.');
}

/** The holder dies, and another looks a moment before the lease ends and a moment after it. Resolves with false when it has no end. */
async function endsAsAsked({ two, story, servers }: Staging, leaseMs: number): Promise<boolean> {
  const { p, q, a, b } = two(leaseMs);
  await a.enters();
  p.kill();
  story.say('the process of A is killed');
  await story.pass((1 - TOLERANCE) * leaseMs - SLACK_MS);
  if (!(await b.isKeptOut(MOMENT_MS)))
    throw new Fault(`A lease of ${leaseMs} ms was asked for, and it was over a moment before.`);
  await story.pass(2 * TOLERANCE * leaseMs);
  if (!(await q.holder('B').isKeptOut(MOMENT_MS))) return true;
  if (servers.isEndless()) return false;
  throw new Fault(`A lease of ${leaseMs} ms was asked for, and the lock was not free a moment later.`);
}

async function waitsForLong({ process, story }: Staging) {
  const [p, q] = [process(), process()];
  const [a, b, c] = [p.holder('A'), q.holder('B', LEASE_MS), p.holder('C', LEASE_MS)];
  await a.enters();
  const asked = b.acquire();
  const early = await story.endOf(asked, WAIT_LEASES * LEASE_MS);
  if (early.how === 'done')
    throw new Fault(`B entered ${formatDuration(early.ms)} after it had asked, while A was inside within its lease.`);
  await a.leaves();
  await b.mustEnter(`A had released, and B had waited for ${WAIT_LEASES} leases:`, STEP_LIMIT_MS, asked);
  if (b.isLost()) throw new Fault('A waiter that had waited for longer than a lease was lost as it entered.');
  await story.pass(LEASE_MS / 2);
  if (b.isLost() || !(await c.isKeptOut()))
    throw new Fault('A waiter that had waited for longer than a lease lost the lock half a lease after it entered.');
}

async function hearsLate({ process, story }: Staging) {
  const p = process();
  const [a, b] = [p.holder('A', LEASE_MS), process().holder('B', LEASE_MS)];
  p.delayReplies(LATE_MS);
  const entered = await story.endOf(a.acquire(), STEP_LIMIT_MS);
  // One that does not enter by so late a reply believes nothing.
  if (entered.how !== 'done') return;
  p.cut();
  story.say('A enters by a late reply, and its line is cut');
  // What has no end is not lost.
  if ((await story.endOf(b.acquire(), NEVER_LEASES * LEASE_MS)).how !== 'done') return;
  story.say('B enters');
  await story.pass(SLACK_MS);
  if (!a.isLost())
    throw new Fault('A entered by a late reply. Its lease was over, B entered, and `lost` of A had not aborted.');
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
