// A strategy, and what the service asks of those that it has, by their names.

import type { CreateLock, CreateMultiLock, TakeOne } from './lock.ts';

/** What a strategy keeps its lock in, besides the stock. `masters` are several Redis servers that know nothing of each other. */
export type Backend = 'redis' | 'masters' | 'mysql' | 'zookeeper';

/** Commands of Redis that do one thing, each with the first server that has it. One of them is enough. */
export type Commands = Record<string, string>;

/** A way to sell without overselling: a lock around the critical section, or a sale of its own that needs none. */
export type Strategy = {
  backend: Backend;
  replicas?: number;
  commands?: Commands;
  /** False when its key has no TTL: one that is not released stays for ever. */
  hasLease?: boolean;
  /** Its lock lets in as many at once as there are permits: it protects no stock. */
  isSemaphore?: true;
  /** True when an acquisition may be given a lease of its own, which is not renewed. */
  takesLease?: true;
} & ( // Who only looks at the stock may have a lock of a kind of its own, and so may who wants several skus.
  | { createLock: CreateLock; createReadLock?: CreateLock; createMultiLock?: CreateMultiLock }
  | { takeOne: TakeOne; stockIn: 'redis' | 'mysql' }
  // Sells in a way of its own, under a lock under which units are put back as well.
  | { takeOne: TakeOne; stockIn: 'redis'; createLock: CreateLock; isInBuckets?: true }
);

export type Registry = ReturnType<typeof createRegistry>;

/** What is known of these strategies. One that is added later counts from then on. */
export function createRegistry(strategies: Record<string, Strategy>) {
  /** The strategy of this name. Throws when there is none. */
  function strategyNamed(name: string): Strategy {
    const strategy = strategies[name];
    if (strategy === undefined) throw new Error(`There is no lock ${name}.`);
    return strategy;
  }

  const has = (name: string, member: string) => member in (strategies[name] ?? {});

  /** How a strategy locks several skus at once. Undefined for one that sells one sku at a time. */
  function multiLockOf(name: string): CreateMultiLock | undefined {
    const strategy = strategies[name];
    return strategy && 'createMultiLock' in strategy ? strategy.createMultiLock : undefined;
  }

  return {
    strategyNamed,
    /** Where the lock of a strategy lives. */
    backendOf: (name: string): Backend => strategies[name]?.backend ?? 'redis',
    /** How many replicas its Redis must have, to confirm what is written. */
    replicasOf: (name: string) => strategies[name]?.replicas ?? 0,
    /** The commands of which its Redis must have one. Undefined when any Redis will do. */
    commandsOf: (name: string): Commands | undefined => strategies[name]?.commands,
    /** False for a lock that stays for ever when it is not released. */
    hasLease: (name: string) => strategies[name]?.hasLease !== false,
    /** True when an acquisition may be given a lease of its own. */
    takesLease: (name: string) => strategies[name]?.takesLease === true,
    /** True when its lock may be that of a user: all that a sale does to be alone is to hold it. */
    mayLockUsers: (name: string) => strategies[name] !== undefined && !has(name, 'takeOne'),
    /** Where the sales of a strategy take their units from. */
    stockOf(name: string): 'redis' | 'mysql' {
      const strategy = strategies[name];
      return strategy && 'stockIn' in strategy ? strategy.stockIn : 'redis';
    },
    /** True when the stock lies in several keys, each with a lock of its own. */
    isInBuckets: (name: string) => has(name, 'isInBuckets'),
    /** False for a sale of its own that needs no lock. */
    hasLock: (name: string) => has(name, 'createLock'),
    /** True for a lock that lets in several at once. */
    isSemaphore: (name: string) => strategies[name]?.isSemaphore === true,
    /** The lock under which one alone may read and write. Undefined where a step must do both. */
    exclusiveLockOf(name: string): CreateLock | undefined {
      const strategy = strategyNamed(name);
      return 'createLock' in strategy && !strategy.isSemaphore ? strategy.createLock : undefined;
    },
    multiLockOf,
    /** The names of those that lock several skus at once. */
    multiLocks: () => Object.keys(strategies).filter((name) => multiLockOf(name) !== undefined),
  };
}
