// The registry: every stage and every strategy by name.

import { createLock as none } from './0-none.ts';
import { createLock as inProcess } from './1-in-process.ts';
import { createLock as recursiveRetry } from './2-recursive-retry.ts';
import { createLock as spin } from './3-spin.ts';
import { createLock as ttl } from './4-ttl.ts';
import { createLock as ownerCheck } from './5-owner-check.ts';
import { createLock as luaRelease } from './6-lua-release.ts';
import { createLock as reentrant } from './7-reentrant.ts';
import { createLock as autoRenew } from './8-auto-renew.ts';
import { createLock as blocking } from './beyond/blocking.ts';
import { createLock as bounded } from './beyond/bounded.ts';
import { takeOne as buckets, createLock as bucketsLock } from './beyond/buckets.ts';
import { createLock as cohort } from './beyond/cohort.ts';
import { takeOne as combine, createLock as combineLock } from './beyond/combine.ts';
import { createLock as deleteIfEqual } from './beyond/delete-if-equal.ts';
import { createLock as fair } from './beyond/fair.ts';
import { createLock as fenced } from './beyond/fenced.ts';
import { createLock as fencedWrites } from './beyond/fenced-writes.ts';
import { createMultiLock, createLock as multi } from './beyond/multi.ts';
import { takeOne as mysqlConditional } from './beyond/mysql-conditional.ts';
import { createLock as mysqlLockTable } from './beyond/mysql-lock-table.ts';
import { createLock as mysqlNamed } from './beyond/mysql-named.ts';
import { takeOne as mysqlOptimistic } from './beyond/mysql-optimistic.ts';
import { takeOne as mysqlPessimistic } from './beyond/mysql-pessimistic.ts';
import { createReadLock, createLock as readWrite } from './beyond/read-write.ts';
import { takeOne as redisAtomic } from './beyond/redis-atomic.ts';
import { createLock as redlock } from './beyond/redlock.ts';
import { createLock as replicated } from './beyond/replicated.ts';
import { takeOne as semaphore, createLock as semaphoreLock } from './beyond/semaphore.ts';
import { createLock as zookeeper } from './beyond/zookeeper.ts';
import { deletingCommands } from './drivers/delete-if-equal.ts';
import { takeUnderPermit } from './drivers/under-permit.ts';
import type { CreateLock } from './lock.ts';
import { createRegistry, type Strategy } from './strategy.ts';

export type { Backend, Commands, Strategy } from './strategy.ts';

/**
 * Every stage by name, in the order of the course. The name is also that of its file, its chapter and its row in every report.
 */
export const locks: Record<string, CreateLock> = {
  '0-none': none,
  '1-in-process': inProcess,
  '2-recursive-retry': recursiveRetry,
  '3-spin': spin,
  '4-ttl': ttl,
  '5-owner-check': ownerCheck,
  '6-lua-release': luaRelease,
  '7-reentrant': reentrant,
  '8-auto-renew': autoRenew,
};

/** The strategies beyond stage 8, by name: `locks/beyond/`. */
export const beyond: Record<string, Strategy> = {
  'delete-if-equal': { backend: 'redis', commands: deletingCommands, createLock: deleteIfEqual },
  bounded: { backend: 'redis', createLock: bounded },
  blocking: { backend: 'redis', takesLease: true, createLock: blocking },
  fair: { backend: 'redis', createLock: fair },
  cohort: { backend: 'redis', createLock: cohort },
  combine: { backend: 'redis', takeOne: combine, stockIn: 'redis', createLock: combineLock },
  'read-write': { backend: 'redis', createLock: readWrite, createReadLock },
  'fenced-writes': { backend: 'redis', createLock: fencedWrites },
  fenced: { backend: 'redis', createLock: fenced },
  buckets: { backend: 'redis', takeOne: buckets, stockIn: 'redis', createLock: bucketsLock, isInBuckets: true },
  multi: { backend: 'redis', createLock: multi, createMultiLock },
  replicated: { backend: 'redis', replicas: 1, createLock: replicated },
  redlock: { backend: 'masters', createLock: redlock },
  'mysql-lock-table': { backend: 'mysql', createLock: mysqlLockTable },
  'mysql-named': { backend: 'mysql', createLock: mysqlNamed },
  'mysql-pessimistic': { backend: 'mysql', takeOne: mysqlPessimistic, stockIn: 'mysql' },
  'mysql-optimistic': { backend: 'mysql', takeOne: mysqlOptimistic, stockIn: 'mysql' },
  'mysql-conditional': { backend: 'mysql', takeOne: mysqlConditional, stockIn: 'mysql' },
  zookeeper: { backend: 'zookeeper', createLock: zookeeper },
  'redis-atomic': { backend: 'redis', takeOne: redisAtomic, stockIn: 'redis' },
  semaphore: { backend: 'redis', takeOne: semaphore, stockIn: 'redis', createLock: semaphoreLock, isSemaphore: true },
};

/** The stages whose key has no TTL. */
const withoutLease = ['2-recursive-retry', '3-spin'];
const stages = Object.entries(locks).map(
  ([name, createLock]) => [name, { backend: 'redis', createLock, hasLease: !withoutLease.includes(name) }] as const,
);

/** The stages and the strategies beyond them. */
export const strategies: Record<string, Strategy> = { ...Object.fromEntries(stages), ...beyond };

/** What the service needs to know about each strategy, by name. */
export const registry = createRegistry(strategies);
export const {
  backendOf,
  replicasOf,
  commandsOf,
  stockOf,
  isInBuckets,
  hasLock,
  isSemaphore,
  takesLease,
  mayLockUsers,
  multiLockOf,
} = registry;

/** For each lock that needs a recent Redis command: the commands of which the server must have one. */
export const commandsOfLocks = Object.fromEntries(
  Object.entries(strategies).flatMap(([name, { commands }]) => (commands ? [[name, commands]] : [])),
);

/** Adds an external lock, under a name that no built-in lock has. */
export function addExternalLock(
  name: string,
  createLock: CreateLock,
  { backend, isSemaphore }: Pick<Strategy, 'backend' | 'isSemaphore'>,
) {
  const takeOne = takeUnderPermit(createLock);
  strategies[name] = isSemaphore
    ? { backend, createLock, isSemaphore, takeOne, stockIn: 'redis' }
    : { backend, createLock };
}

/** The default lock of each backend. */
const ofBackend: Record<string, string> = { redis: '8-auto-renew', mysql: 'mysql-lock-table', zookeeper: 'zookeeper' };

/**
 * The lock that a `LOCK_VERSION` selects: a number (`4`), a name (`4-ttl`, `fenced`) or a backend (`redis`), in any letter case.
 * Undefined if there is no such lock.
 */
export function lockName(version: string): string | undefined {
  const names = Object.keys(strategies);
  const asked = version.toLowerCase();
  const wanted = Object.hasOwn(ofBackend, asked) ? ofBackend[asked] : asked;
  return /^\d+$/.test(version)
    ? names.find((name) => name.startsWith(`${version}-`))
    : names.find((name) => name.toLowerCase() === wanted);
}

/** The stage's number: 4 for `4-ttl`, null for a strategy beyond the stages. */
export function numberOf(name: string): number | null {
  return Object.hasOwn(locks, name) ? Number.parseInt(name, 10) : null;
}

/** The values that `LOCK_VERSION` accepts, as part of a sentence. */
export const knownVersions = `a number from 0 to 8, a backend (${Object.keys(ofBackend).join(', ')}), or one of ${Object.keys(strategies).join(', ')}`;
