// A strategy, and what the service asks about its strategies, by name.

import type { CreateLock, CreateMultiLock, TakeOne } from './lock.ts';

/** Where a strategy keeps its lock. `masters` are several independent Redis servers. */
export type Backend = 'redis' | 'masters' | 'mysql' | 'zookeeper';

/** Redis commands that do the same thing, each with the first server version that has it. One of them is enough. */
export type Commands = Record<string, string>;

/** A way to sell without overselling: a lock around the critical section, or a special sale that needs no lock. */
export type Strategy = {
  backend: Backend;
  replicas?: number;
  commands?: Commands;
  /** False if its key has no TTL: a lock that is not released stays forever. */
  hasLease?: boolean;
  /** Its lock admits as many holders as there are permits: it does not protect the stock. */
  isSemaphore?: true;
  /** True if an acquisition may have a fixed lease, which is not renewed. */
  takesLease?: true;
} & ( // Readers of the stock may have a separate kind of lock, and so may sales of several skus.
  | { createLock: CreateLock; createReadLock?: CreateLock; createMultiLock?: CreateMultiLock }
  | { takeOne: TakeOne; stockIn: 'redis' | 'mysql' }
  // Sells in its own way, under a lock that also protects the return of units.
  | { takeOne: TakeOne; stockIn: 'redis'; createLock: CreateLock; isInBuckets?: true }
);

export type Registry = ReturnType<typeof createRegistry>;

/** Answers questions about these strategies, including those that are added later. */
export function createRegistry(strategies: Record<string, Strategy>) {
  /** The strategy of this name. Throws if there is none. */
  function strategyNamed(name: string): Strategy {
    const strategy = strategies[name];
    if (strategy === undefined) throw new Error(`There is no lock ${name}.`);
    return strategy;
  }

  const has = (name: string, member: string) => member in (strategies[name] ?? {});

  /** How a strategy locks several skus at once. Undefined for a strategy that sells one sku at a time. */
  function multiLockOf(name: string): CreateMultiLock | undefined {
    const strategy = strategies[name];
    return strategy && 'createMultiLock' in strategy ? strategy.createMultiLock : undefined;
  }

  return {
    strategyNamed,
    /** The backend of a strategy's lock. */
    backendOf: (name: string): Backend => strategies[name]?.backend ?? 'redis',
    /** How many replicas its Redis needs to confirm writes. */
    replicasOf: (name: string) => strategies[name]?.replicas ?? 0,
    /** The commands of which its Redis must have one. Undefined if any Redis will do. */
    commandsOf: (name: string): Commands | undefined => strategies[name]?.commands,
    /** False for a lock that stays forever if it is not released. */
    hasLease: (name: string) => strategies[name]?.hasLease !== false,
    /** True if an acquisition may have a fixed lease. */
    takesLease: (name: string) => strategies[name]?.takesLease === true,
    /** True if its lock can also lock a user: the lock alone protects the sale. */
    mayLockUsers: (name: string) => strategies[name] !== undefined && !has(name, 'takeOne'),
    /** Where a strategy's sales take their units from. */
    stockOf(name: string): 'redis' | 'mysql' {
      const strategy = strategies[name];
      return strategy && 'stockIn' in strategy ? strategy.stockIn : 'redis';
    },
    /** True if the stock is split over several keys, each with its own lock. */
    isInBuckets: (name: string) => has(name, 'isInBuckets'),
    /** False for a special sale that needs no lock. */
    hasLock: (name: string) => has(name, 'createLock'),
    /** True for a lock that admits several holders at once. */
    isSemaphore: (name: string) => strategies[name]?.isSemaphore === true,
    /** The exclusive lock for a read followed by a write. Undefined where one step must do both. */
    exclusiveLockOf(name: string): CreateLock | undefined {
      const strategy = strategyNamed(name);
      return 'createLock' in strategy && !strategy.isSemaphore ? strategy.createLock : undefined;
    },
    multiLockOf,
    /** The names of the strategies that lock several skus at once. */
    multiLocks: () => Object.keys(strategies).filter((name) => multiLockOf(name) !== undefined),
  };
}
