// A hold is released while its renewal is on its way: nothing of it goes on.

import { countOf } from '../../narration/numbers.ts';
import type { LockUnderTest } from '../lock-under-test.ts';
import { Fault, holds } from '../outcome.ts';
import { LEASE_MS } from '../staging.ts';
import { STEP_LIMIT_MS } from '../story.ts';

const LEASES = 3;
/** So long the renewal is late, and so long what is on its way takes to end, in milliseconds. */
const LATE_MS = 20;
const SETTLE_MS = 100;

export const lateRenewal = ({ stage }: LockUnderTest) =>
  stage(async ({ process, story }) => {
    const p = process();
    const [first, a] = [p.holder('A', LEASE_MS), p.holder('A', LEASE_MS)];
    // Some things stay for good from the first hold on, such as a connection that listens.
    await first.enters();
    await first.leaves();
    await story.pass(SETTLE_MS);
    const timers = p.timers();
    await a.enters();
    const renewal = p.hold();
    await renewal.mustCome(LEASE_MS);
    const released = a.release();
    story.say('A releases while its renewal is on its way');
    await story.pass(LATE_MS);
    renewal.letGo();
    await story.endOf(released, STEP_LIMIT_MS);
    await story.pass(SETTLE_MS);
    const from = story.now();
    await story.pass(LEASES * LEASE_MS);
    const late = p.sentSince(from).length;
    if (late > 0) throw new Fault(`After its release it sent ${countOf(late, 'command')} in ${LEASES} leases.`);
    const more = p.timers() - timers;
    if (more > 0) throw new Fault(`${LEASES} leases after its release ${countOf(more, 'timer')} of it still ran.`);
    if (a.isLost() || a.losses.length > 0) throw new Fault('A hold that was released says later that it is lost.');
    return holds(`A release met a renewal: in ${LEASES} leases nothing was sent, and nothing said to be lost.`);
  });
