// The checks of the contract, in their order. The first two say whether the others can look at anything.

import type { DrillOutcome } from '../../harness/drill.ts';
import type { Bed } from './bed.ts';
import { abort } from './checks/abort.ts';
import { abortMany } from './checks/abort-many.ts';
import { commands, isTooMuchOnAverage } from './checks/commands.ts';
import { crash } from './checks/crash.ts';
import { deadHeir } from './checks/dead-heir.ts';
import { enter } from './checks/enter.ts';
import { failedRenewal } from './checks/failed-renewal.ts';
import { heap } from './checks/heap.ts';
import { herd } from './checks/herd.ts';
import { keys } from './checks/keys.ts';
import { lateAcquire } from './checks/late-acquire.ts';
import { lateRelease } from './checks/late-release.ts';
import { leftovers } from './checks/leftovers.ts';
import { longHold } from './checks/long-hold.ts';
import { lost } from './checks/lost.ts';
import { nested } from './checks/nested.ts';
import { notHeld } from './checks/not-held.ts';
import { order } from './checks/order.ts';
import { quiet } from './checks/quiet.ts';
import { sameNode } from './checks/same-node.ts';
import { turn } from './checks/turn.ts';
import { wakeUp } from './checks/wake-up.ts';

export interface Check {
  /** `contract-…`: the name of its cell. */
  name: string;
  /** Rejects with NotStagedError when a step did not happen, and with NodeBroken when the lock broke its process. */
  run(bed: Bed): Promise<DrillOutcome>;
  /** It has a lease that does not end while it looks: a machine that is slow makes it slow, and not wrong. */
  isTimeless?: boolean;
  /** True for a failure that the machine cannot have brought about, however slow it was. */
  isCertain?(failed: DrillOutcome): boolean;
  /** How long it waits, in leases, where it waits at all. */
  leases?: number;
}

export const checks: Check[] = [
  { name: 'contract-enter', run: enter, isTimeless: true },
  { name: 'contract-keys', run: keys, isTimeless: true },
  { name: 'contract-late-release', run: lateRelease, isTimeless: true },
  { name: 'contract-late-acquire', run: lateAcquire, leases: 2 },
  { name: 'contract-same-node', run: sameNode, leases: 3, isTimeless: true },
  { name: 'contract-long-hold', run: longHold, leases: 6 },
  { name: 'contract-crash', run: crash, leases: 4 },
  { name: 'contract-dead-heir', run: deadHeir, leases: 4 },
  { name: 'contract-not-held', run: notHeld, leases: 3 },
  { name: 'contract-lost', run: lost, leases: 2 },
  { name: 'contract-nested', run: nested, isTimeless: true },
  { name: 'contract-abort', run: abort },
  { name: 'contract-abort-many', run: abortMany, leases: 2 },
  { name: 'contract-wake-up', run: wakeUp, isTimeless: true },
  { name: 'contract-herd', run: herd },
  { name: 'contract-failed-renewal', run: failedRenewal, leases: 3 },
  { name: 'contract-quiet', run: quiet, leases: 3 },
  { name: 'contract-commands', run: commands, leases: 1, isTimeless: true, isCertain: isTooMuchOnAverage },
  { name: 'contract-leftovers', run: leftovers, leases: 4, isTimeless: true },
  { name: 'contract-heap', run: heap, leases: 5, isTimeless: true },
  { name: 'contract-order', run: order, leases: 1, isTimeless: true },
  { name: 'contract-turn', run: turn, leases: 3 },
];
