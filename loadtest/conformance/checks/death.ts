// A process is killed: its lock comes to an end, and another holder enters.

import { formatDuration } from '../../narration/numbers.ts';
import type { Holder } from '../holder.ts';
import { Fault, holds } from '../outcome.ts';
import { LEASE_MS, type LockUnderTest, type Staging } from '../staging.ts';

/** Within so many leases another is inside. */
export const TAKEOVER_LEASES = 1.5;
/** By then a waiter has asked, in milliseconds. */
const ARRIVE_MS = 100;
/** How long it is waited for, in leases, before it counts as never. */
const WAIT_LEASES = 3;

/** It is killed after each command of acquire() in turn. */
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
      const when = next === undefined ? 'A was killed while it was inside' : `A was killed after its ${command.name}`;
      takeoverMs = Math.max(takeoverMs, await takeOver(staging, b, when, 'the key is still there'));
    });
  }
  await stage(firstWaiterDies);
  return holds(`Another entered ${formatDuration(takeoverMs)} after the crash at the latest.`, { takeoverMs });
}

/** Who waits first is killed: the holder releases, and the second enters. */
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
    'a dead waiter stays before the others',
    asked,
  );
}

/** A loses its key, B takes it and is killed: the lock is free soon, although A lives. */
export const deadHeir = ({ stage }: LockUnderTest) =>
  stage(async (staging) => {
    const { process, servers, story } = staging;
    const [p, victim, q] = [process(), process(), process()];
    const [a, b, c] = [p.holder('A', LEASE_MS), victim.holder('B', LEASE_MS), q.holder('C', LEASE_MS)];
    await a.enters();
    servers.endLease();
    await b.enters();
    victim.kill();
    story.say('the process of B is killed, that of A lives on');
    const takeoverMs = await takeOver(staging, c, 'B is dead', 'A keeps the lease of B alive');
    return holds(`C entered ${formatDuration(takeoverMs)} after the death of B, while A was alive.`, { takeoverMs });
  });

/** Resolves with how long it takes until this one is inside, in milliseconds. */
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
    throw new Fault(`${when}, and nobody entered in ${formatDuration(WAIT_LEASES * LEASE_MS)}: ${cause}.`);
  }
  story.say(`${heir.name} enters`);
  await heir.leaves();
  if (entered.ms > TAKEOVER_LEASES * LEASE_MS)
    throw new Fault(`${when}, and ${heir.name} entered only ${formatDuration(entered.ms)} later.`, {
      takeoverMs: entered.ms,
    });
  return entered.ms;
}
