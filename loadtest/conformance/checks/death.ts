// Kills a process: its lock must expire, and another holder must enter.

import { formatDuration } from '../../narration/numbers.ts';
import type { Holder } from '../holder.ts';
import { Fault, holds } from '../outcome.ts';
import { LEASE_MS, type LockUnderTest, type Staging } from '../staging.ts';

/** Within how many leases another holder must enter. */
export const TAKEOVER_LEASES = 1.5;
/** By when a waiter has sent its request, in milliseconds. */
const ARRIVE_MS = 100;
/** After how many leases it counts as never. */
const WAIT_LEASES = 3;

/** Kills the process after each command of acquire() in turn. */
export async function crash({ survey, stage }: LockUnderTest) {
  let takeoverMs = 0;
  for (const [at, command] of survey.acquire.entries()) {
    const next = survey.acquire[at + 1];
    await stage(async (staging) => {
      const { p, a, b } = staging.two(LEASE_MS);
      if (next === undefined) await a.enters();
      else {
        const held = p.hold(at + 1);
        void a.acquire();
        await held.waits(`A has sent its ${command.name}`);
      }
      p.kill();
      staging.story.say('the process of A is killed');
      const when =
        next === undefined ? 'A was killed while it held the lock' : `A was killed after its ${command.name}`;
      takeoverMs = Math.max(takeoverMs, await takeOver(staging, b, when, 'the key is still there'));
    });
  }
  await stage(firstWaiterDies);
  return holds(`Another holder entered at most ${formatDuration(takeoverMs)} after the crash.`, { takeoverMs });
}

/** Kills the first waiter: when the holder releases, the second waiter must enter. */
async function firstWaiterDies(staging: Staging) {
  const { process, story } = staging;
  const [p, victim, q] = [process(), process(), process()];
  const [a, b, c] = [p.holder('A'), victim.holder('B', LEASE_MS), q.holder('C', LEASE_MS)];
  await a.enters();
  void b.acquire();
  await story.pass(ARRIVE_MS);
  const asked = c.acquire();
  await story.pass(ARRIVE_MS);
  victim.kill();
  story.say('B and C wait, and the process of B is killed');
  await a.leaves();
  await takeOver(
    staging,
    c,
    'B was killed while it waited, and A released',
    'the dead waiter keeps its place before the others',
    asked,
  );
}

/** A loses its key, B takes it and is killed: the lock must become free soon, although A is alive. */
export const deadHeir = ({ stage }: LockUnderTest) =>
  stage(async (staging) => {
    const { process, servers, story } = staging;
    const [p, victim, q] = [process(), process(), process()];
    const [a, b, c] = [p.holder('A', LEASE_MS), victim.holder('B', LEASE_MS), q.holder('C', LEASE_MS)];
    await a.enters();
    servers.endLease();
    await b.enters();
    victim.kill();
    story.say('the process of B is killed, A stays alive');
    const takeoverMs = await takeOver(staging, c, 'B is dead', 'A keeps the lease of B alive');
    return holds(`C entered ${formatDuration(takeoverMs)} after the death of B, while A was alive.`, { takeoverMs });
  });

/** Resolves with how long this holder takes to enter, in milliseconds. */
export async function takeOver(
  { story, servers }: Staging,
  heir: Holder,
  when: string,
  why: string,
  asked = heir.acquire(),
): Promise<number> {
  const entered = await story.endOf(asked, WAIT_LEASES * LEASE_MS);
  if (entered.how !== 'done') {
    const cause = servers.isEndless() ? 'its key has no TTL' : why;
    throw new Fault(`${when}, and nobody entered within ${formatDuration(WAIT_LEASES * LEASE_MS)}: ${cause}.`);
  }
  story.say(`${heir.name} enters`);
  await heir.leaves();
  if (entered.ms > TAKEOVER_LEASES * LEASE_MS)
    throw new Fault(`${when}, and ${heir.name} entered only ${formatDuration(entered.ms)} later.`, {
      takeoverMs: entered.ms,
    });
  return entered.ms;
}
