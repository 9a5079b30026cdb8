// The current lock of a node, its timing, and what one sale may ask of it.

import type { Registry } from '../../../locks/strategy.ts';
import { ProblemError } from '../problem.ts';
import type { LockTiming, NodeState } from './contract.ts';
import type { SaleServiceParts } from './parts.ts';
import { type Asked, userSchema } from './sku.ts';

/** The lock of later sales, and its timing. */
export type Present = Pick<
  NodeState,
  'lock' | 'scope' | 'leaseMs' | 'renewEveryMs' | 'fixedLeaseMs' | 'retryDelayMs' | 'waitTimeoutMs'
>;

export const presentAtStart = (settings: SaleServiceParts['settings']): Present => ({
  lock: settings.LOCK_VERSION,
  scope: settings.LOCK_SCOPE,
  leaseMs: settings.LEASE_MS,
  renewEveryMs: settings.RENEW_EVERY_MS ?? settings.LEASE_MS / 3,
  fixedLeaseMs: settings.FIXED_LEASE_MS,
  retryDelayMs: settings.RETRY_DELAY_MS,
  waitTimeoutMs: settings.WAIT_TIMEOUT_MS,
});

type Known = Pick<Registry, 'takesLease' | 'mayLockUsers'>;

/**
 * The state after a change. The renewal interval and a fixed lease belong to the lease that they were given with.
 * Throws ProblemError BAD_REQUEST for what does not go together.
 */
export function changed(known: Known, atStart: Present, lock: string, timing: LockTiming): Present {
  const { leaseMs = atStart.leaseMs } = timing;
  const isOwnLease = timing.leaseMs !== undefined;
  const next: Present = {
    lock,
    scope: timing.scope ?? atStart.scope,
    leaseMs,
    renewEveryMs: timing.renewEveryMs ?? (isOwnLease ? leaseMs / 3 : atStart.renewEveryMs),
    fixedLeaseMs: timing.fixedLeaseMs ?? (isOwnLease || !known.takesLease(lock) ? undefined : atStart.fixedLeaseMs),
    retryDelayMs: timing.retryDelayMs ?? atStart.retryDelayMs,
    waitTimeoutMs: timing.waitTimeoutMs ?? atStart.waitTimeoutMs,
  };
  if (next.renewEveryMs >= leaseMs) throw refusal(`renewEveryMs must be less than leaseMs, which is ${leaseMs}.`);
  if (next.fixedLeaseMs !== undefined) mustTakeLease(known, lock);
  if (next.scope === 'user' && !known.mayLockUsers(lock))
    throw refusal(`The scope can't be user: ${lock} sells without a lock around the sale.`);
  return next;
}

/**
 * What one sale asks of the current lock. `user`: the header X-User-Id. Throws ProblemError BAD_REQUEST if the lock can't do
 * it.
 */
export function askedOf(known: Known, present: Present, limits: Omit<Asked, 'user'>, user?: string): Asked {
  const { lock, scope, waitTimeoutMs } = present;
  const { waitMs, leaseMs } = limits;
  if (waitMs === 0 && !known.mayLockUsers(lock))
    throw refusal(`waitMs must be 1 or more: ${lock} does not support a single try.`);
  if (waitMs !== undefined && waitMs > waitTimeoutMs)
    throw refusal(`waitMs must be at most WAIT_TIMEOUT_MS, which is ${waitTimeoutMs}.`);
  if (leaseMs !== undefined) mustTakeLease(known, lock);
  if (scope === 'sku') return limits;
  const { data, error } = userSchema.safeParse(user);
  if (error) throw refusal(error.issues[0]?.message ?? '');
  return { waitMs, leaseMs, user: data };
}

function mustTakeLease(known: Known, lock: string) {
  if (known.takesLease(lock)) return;
  throw refusal(
    `${lock} does not support a fixed lease: its lease, if any, is LEASE_MS. LOCK_VERSION=blocking supports one.`,
  );
}

const refusal = (detail: string) => new ProblemError('BAD_REQUEST', detail);
