// Compares how long a holder believes that it holds the lock with how long it does, also with clocks that differ.

import { formatDuration } from '../../narration/numbers.ts';
import { doesNotApply, Fault, holds, STEP_LIMIT_MS } from '../outcome.ts';
import { LEASE_MS, type LockUnderTest, type Staging } from '../staging.ts';

const LEASES_MS = [LEASE_MS, 1_900];
/** How much the end of a lease may differ from the requested one, as a part of the lease. */
const TOLERANCE = 0.05;
const LATE_MS = 0.8 * LEASE_MS;
const WAIT_LEASES = 2.5;
/** After how many leases a waiter counts as never entering. */
const NEVER_LEASES = 3;
/** How long a holder tries to see whether the lock is free, in milliseconds. */
const MOMENT_MS = 10;
/** How late a timer of the holder may be, in milliseconds. */
const SLACK_MS = 5;

export async function belief({ survey, stage }: LockUnderTest) {
  let hasEnd = true;
  for (const ms of LEASES_MS) hasEnd = await stage((staging) => endsAsAsked(staging, ms));
  await stage(waitsForLong);
  if (survey.hasLost) await stage(hearsLate);
  if (!hasEnd) return doesNotApply('Its lease has no end.');
  return holds(
    'Its lease is as long as requested, also after a long wait, and the holder does not believe in it for longer.',
  );
}

/** The holder dies, and another tries just before and just after the lease ends. Resolves with false when the lease has no end. */
async function endsAsAsked({ two, story, servers }: Staging, leaseMs: number): Promise<boolean> {
  const { p, q, a, b } = two(leaseMs);
  await a.enters();
  p.kill();
  story.say('the process of A is killed');
  await story.pass((1 - TOLERANCE) * leaseMs - SLACK_MS);
  if (!(await b.isKeptOut(MOMENT_MS)))
    throw new Fault(`A lease of ${leaseMs} ms was requested, but it ended too early.`);
  await story.pass(2 * TOLERANCE * leaseMs);
  if (!(await q.holder('B').isKeptOut(MOMENT_MS))) return true;
  if (servers.isEndless()) return false;
  throw new Fault(`A lease of ${leaseMs} ms was requested, but it ended too late.`);
}

async function waitsForLong({ process, story }: Staging) {
  const [p, q] = [process(), process()];
  const [a, b, c] = [p.holder('A'), q.holder('B', LEASE_MS), p.holder('C', LEASE_MS)];
  await a.enters();
  const asked = b.acquire();
  const early = await story.endOf(asked, WAIT_LEASES * LEASE_MS);
  if (early.how === 'done')
    throw new Fault(
      `B entered ${formatDuration(early.ms)} after its first try, while A was inside and within its lease.`,
    );
  await a.leaves();
  await b.mustEnter(`After A had released, and B had waited for ${WAIT_LEASES} leases,`, STEP_LIMIT_MS, asked);
  if (b.isLost()) throw new Fault('A waiter that had waited for longer than a lease counted as lost when it entered.');
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
  story.say('A enters on a late reply, and its connection is cut');
  // What has no end is not lost.
  if ((await story.endOf(b.acquire(), NEVER_LEASES * LEASE_MS)).how !== 'done') return;
  story.say('B enters');
  await story.pass(SLACK_MS);
  if (!a.isLost())
    throw new Fault('A entered on a late reply. Its lease ended and B entered, but `lost` of A had not aborted.');
}

const clocks = {
  'is ahead by a lease': { aheadMs: LEASE_MS },
  'is behind by a lease': { aheadMs: -LEASE_MS },
  'runs 10 % fast': { rate: 1.1 },
};

/** Each holder tries while the other holds, and holds while the other tries. */
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
  return holds('A clock that is a lease ahead or behind, or 10 % fast, lets no second holder in.');
}
