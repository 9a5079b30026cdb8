// The conformance checks, in order. The first two decide whether the others can run.

import type { Drill, DrillOutcome } from '../harness/drill.ts';
import { abort, abortMany } from './checks/abort.ts';
import { belief, clock } from './checks/belief.ts';
import { crash, deadHeir } from './checks/death.ts';
import { enter, keys, nested, oneTry, permits, sameNode } from './checks/enter.ts';
import { failedRelease, lostReply, redisBack, scriptFlush } from './checks/failures.ts';
import { lateAcquire, lateRelease, lateRenewal, wakeUp } from './checks/late.ts';
import { lateReply } from './checks/late-reply.ts';
import { failedRenewal, longHold, lost, manyKeys, notHeld, quiet } from './checks/lease.ts';
import { heap, leftovers } from './checks/left.ts';
import { commands, herd } from './checks/load.ts';
import { readers } from './checks/readers.ts';
import { replica } from './checks/replica.ts';
import { longSequences, sequences } from './checks/sequences.ts';
import { tokens } from './checks/tokens.ts';
import { order, turn } from './checks/turn.ts';
import type { LockUnderTest } from './staging.ts';

export interface Check {
  /** The name of its cell: `contract-…`. */
  name: string;
  /** It does not apply to a lock that has no such thing. */
  needs?: 'renewal' | 'lost' | 'token' | 'replica';
  /** Rejects with a Fault when the lock does not hold, and with NotStagedError when a step was not seen. */
  run(lock: LockUnderTest): Promise<DrillOutcome>;
}

export const checks: Check[] = [
  { name: 'contract-enter', run: enter },
  { name: 'contract-keys', run: keys },
  { name: 'contract-late-release', run: lateRelease },
  { name: 'contract-late-acquire', run: lateAcquire },
  { name: 'contract-same-node', run: sameNode },
  { name: 'contract-long-hold', run: longHold },
  { name: 'contract-crash', run: crash },
  { name: 'contract-dead-heir', run: deadHeir },
  { name: 'contract-not-held', run: notHeld },
  { name: 'contract-lost', needs: 'lost', run: lost },
  { name: 'contract-nested', run: nested },
  { name: 'contract-abort', run: abort },
  { name: 'contract-abort-many', run: abortMany },
  { name: 'contract-wake-up', run: wakeUp },
  { name: 'contract-herd', run: herd },
  { name: 'contract-failed-renewal', needs: 'renewal', run: failedRenewal },
  { name: 'contract-quiet', run: quiet },
  { name: 'contract-commands', run: commands },
  { name: 'contract-leftovers', run: leftovers },
  { name: 'contract-heap', run: heap },
  { name: 'contract-order', run: order },
  { name: 'contract-turn', run: turn },
  { name: 'contract-redis-back', needs: 'renewal', run: redisBack },
  { name: 'contract-late-renewal', needs: 'renewal', run: lateRenewal },
  { name: 'contract-many-keys', needs: 'renewal', run: manyKeys },
  { name: 'contract-one-try', run: oneTry },
  { name: 'contract-clock', run: clock },
  { name: 'contract-tokens', needs: 'token', run: tokens },
  { name: 'contract-lost-reply', run: lostReply },
  { name: 'contract-late-reply', run: lateReply },
  { name: 'contract-failed-release', run: failedRelease },
  { name: 'contract-script-flush', run: scriptFlush },
  { name: 'contract-belief', run: belief },
  { name: 'contract-permits', run: permits },
  { name: 'contract-readers', run: readers },
  { name: 'contract-replica', needs: 'replica', run: replica },
  { name: 'contract-sequences', run: sequences },
  { name: 'contract-long-sequences', run: longSequences },
];

/** A check as a drill, for its cell. */
export const checkNamed = (name: string): Drill => ({
  name,
  kind: 'steps',
  isCheck: true,
  run: () => Promise.reject(new Error(`${name} runs only in the simulation.`)),
});
