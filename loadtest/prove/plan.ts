// Plans the cells of npm run prove.

import { resolve } from 'node:path';
import { backendOf, beyond, hasLock, isInBuckets, multiLockOf, replicasOf, strategies } from '../../locks/index.ts';
import type { Task } from '../../prove/cell.ts';
import { type Budget, type Demand, type Scope, scopes } from '../../prove/scopes.ts';
import { projectDir } from '../../stack/parts.ts';
import type { Grade } from '../evidence/results.ts';
import { hasNothingToBreak, isExternal, isSemaphoreRow, rowOf } from '../staircase/lookup.ts';

/** A lock that can be checked. */
export interface ProvableLock {
  /** Its row. */
  stage: string;
  /** The file that exports `createLock`. */
  file: string;
  /** How many masters vote; 0 when it asks one server. */
  masters: number;
  /** It locks several skus at once: of a lock of the course that is known. */
  sellsBaskets?: boolean;
}

/** So many masters have a majority of two. */
const MASTERS = 3;

/**
 * The built-in locks that keep what they know in Redis: those of one server first. One that waits for a replica is left out: what
 * WAIT answers depends on a second server, and the search has none that hears of each command in its own time.
 */
export const provableLocks: ProvableLock[] = Object.keys(strategies)
  .filter((stage) => hasLock(stage) && ['redis', 'masters'].includes(backendOf(stage)) && replicasOf(stage) === 0)
  .map((stage) => ({
    stage,
    file: resolve(projectDir, rowOf(stage)?.story ?? ''),
    masters: backendOf(stage) === 'masters' ? MASTERS : 0,
  }))
  .toSorted((one, other) => one.masters - other.masters);

/** The waiters of most of them listen; under `buckets` each look has as many ways to go on as there are buckets. */
const large = ['blocking', 'buckets', 'cohort', 'combine', 'fair', 'semaphore'];

/** What a run looks at that names no lock: those of one server. */
export const usualLocks = provableLocks.filter(({ masters }) => masters === 0);

/** An external lock that can be looked at. */
export function provable({ stage, file, promises }: Pick<Grade, 'stage' | 'file' | 'promises'>): ProvableLock {
  return { stage, file, masters: promises?.masters ? MASTERS : 0 };
}

export const scopeNames = scopes.map(({ name }) => name);

export interface Wanted {
  locks: ProvableLock[];
  /** It looks at as much of all locks as there is time for. */
  isOfAll?: boolean;
  scopes: string[];
  /** How many processes, one cell for each. */
  processes: number[];
  sales: number;
  /** How often each fault may happen, of those that a scope has. */
  budget: Partial<Budget>;
  /** How many states each cell may take. */
  mostStates?: number;
}

/** The cells, those with few processes first: a lock that fails with them is not checked with more. */
export function plan({ locks, scopes: names, processes, isOfAll = false, ...common }: Wanted): Task[] {
  const wanted = scopes.filter(({ name }) => names.includes(name));
  return processes.flatMap((count) =>
    locks.flatMap((lock) =>
      wanted
        .filter((scope) => hasServersOf(scope, lock) && hasLocksOf(scope, lock, isOfAll))
        .filter((scope) => saysSomethingOf(scope, lock))
        // A scope that needs more processes has one cell, of so many.
        .filter((scope) => count >= (scope.processes ?? 0))
        .filter((scope) => !isOfAll || !large.includes(lock.stage) || count === 2 || isOfFew(scope))
        .map((scope) => ({
          ...{ stage: lock.stage, file: lock.file, masters: lock.masters },
          ...(isInBuckets(lock.stage) && { isInBuckets: true }),
          ...(isSemaphoreRow(lock.stage) && { isSemaphore: true }),
          ...common,
          sales: Math.max(common.sales, leastSalesOf(lock)),
          budget: budgetOf(scope, common.budget),
          scope: scope.name,
          processes: count,
        })),
    ),
  );
}

/** Of those that take long these are looked at with more than two all the same. */
const isOfFew = ({ servers, permits }: Scope) => servers === 'buckets' || permits !== undefined;

function hasServersOf({ servers }: Scope, { stage, masters }: ProvableLock): boolean {
  if (servers === 'buckets') return isInBuckets(stage);
  return servers === 'any' || (servers === 'masters') === masters > 0;
}

/** Of one sku the lock of several is another's, which is looked at anyhow. */
function hasLocksOf(scope: Scope, { stage, sellsBaskets }: ProvableLock, isOfAll: boolean) {
  const { hasReaders = false, skus = 1, permits } = scope;
  const ofSeveral = multiLockOf(stage) !== undefined;
  if (permits !== undefined && !isSemaphoreRow(stage)) return false;
  if (hasReaders && !('createReadLock' in (beyond[stage] ?? {}))) return false;
  return skus > 1 ? (sellsBaskets ?? ofSeveral) : !(isOfAll && ofSeveral);
}

/** What sells for others as well may sell two at once. */
function leastSalesOf({ stage }: ProvableLock): number {
  return 'takeOne' in (beyond[stage] ?? {}) && !isInBuckets(stage) && !isSemaphoreRow(stage) ? 2 : 1;
}

/** These have no lease in Redis: what is demanded of leases alone holds for them, and says nothing. */
const withoutLease = ['0-none', '1-in-process'];
const ofLeases: Demand[] = ['alone within leases', 'untouched'];

/** With one permit a semaphore is a lock. The stock it does not protect, so scopes that only ask for that say nothing. */
const ofOnePermit: string[] = [
  ...['plain', 'lost-wakeup', 'script-cache-empty', 'crashed-holder', 'slow-holder', 'late-release', 'long-sale'],
  ...['client-gone', 'zombie-renewal'],
];

/** False when the drill of the same name has nothing to break, and when a verdict would be meaningless. */
function saysSomethingOf({ name, demands, permits }: Scope, { stage }: ProvableLock): boolean {
  if (isSemaphoreRow(stage)) return permits !== undefined || ofOnePermit.includes(name);
  // Either object asks again in one drill, before a short sale or a long one.
  const drill = name.startsWith('nested-') ? 'nested-call' : name;
  if (!isExternal(stage) && hasNothingToBreak(stage, drill)) return false;
  return !withoutLease.includes(stage) || demands.some((demand) => !ofLeases.includes(demand));
}

/** What is given of the faults that the scope has. */
function budgetOf({ budget }: Scope, given: Partial<Budget>): Partial<Budget> {
  return Object.fromEntries(Object.entries(given).filter(([fault]) => fault in budget));
}
