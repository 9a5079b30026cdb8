// A signal that is aborted from the start means one try: two try at the same moment.

import type { LockUnderTest } from '../lock-under-test.ts';
import { Fault, holds } from '../outcome.ts';
import { LEASE_MS } from '../staging.ts';
import { STEP_LIMIT_MS } from '../story.ts';

/** What nobody awaits has ended by then, in milliseconds. */
const SETTLE_MS = 2 * LEASE_MS;

export const oneTry = ({ stage, promises }: LockUnderTest) =>
  stage(async ({ process, story, servers }) => {
    const [p, q] = [process(), process()];
    const [alone, a, b] = [p.holder('A', LEASE_MS), p.holder('A', LEASE_MS), q.holder('B', LEASE_MS)];
    await alone.mustEnter('One try at a free lock:', STEP_LIMIT_MS, alone.acquire('once'));
    if (servers.leaseLeftMs() === -1) throw new Fault('Who tries once gets a key that has no end.');
    await alone.leaves();
    await story.pass(SETTLE_MS);
    const before = servers.contents();
    const tries = await Promise.all([a, b].map((each) => story.ends(`one try of ${each.name}`, each.acquire('once'))));
    if (tries.some(({ how }) => how === 'pending')) throw new Fault('Who tries once waits for the lock.');
    if (tries.every(({ how }) => how === 'done'))
      throw new Fault('Two tried once at the same moment, and both entered.');
    // Votes may be split.
    if (!promises.masters && tries.every(({ how }) => how === 'rejected'))
      throw new Fault('Two tried once at the same moment, and neither entered a free lock.');
    for (const [at, each] of [a, b].entries()) if (tries[at]?.how === 'done') await each.leaves();
    await story.pass(SETTLE_MS);
    const left = Object.keys(servers.contents()).filter((name) => !(name in before));
    if (left.length > 0) throw new Fault(`Two tried once, and left ${left.join(', ')}.`);
    return holds('Two tried once at the same moment: one was inside, and nothing is left.');
  });
