// Which parts of a stack a strategy uses: others may run beside them, and are not shown.

import { backendOfRow } from '../../loadtest/staircase/lookup.ts';
import { stockOf, strategies } from '../../locks/index.ts';
import type { Line, Part, StackView } from '../contract.ts';

/** Its lock or its stock is in Redis. */
export function usesRedis(stage: string): boolean {
  return backendOfRow(stage) === 'redis' || stockOf(stage) === 'redis';
}

/** Its sales take a lock: one of their own, or that of a row. */
export function takesLock(stage: string): boolean {
  const strategy = strategies[stage];
  return strategy === undefined || 'createLock' in strategy || stage === 'mysql-pessimistic';
}

/** Where the lock of its sales is, if they take one: in a server, or in each node. */
export function locksOf(stage: string): Pick<StackView, 'hasLock' | 'hasNodeLocks'> {
  const hasNodeLocks = stage === '1-in-process';
  return { hasLock: takesLock(stage) && !hasNodeLocks, hasNodeLocks };
}

/** The parts and the lines of a stack that sales under this stage use. */
export function ownParts(stage: string, { parts, lines }: { parts: Part[]; lines: Line[] }) {
  const own = parts.filter(({ kind }) => isUsed(kind, stage));
  const isOwn = (name: string) => own.some((part) => part.name === name);
  return { parts: own, lines: lines.filter(({ from, to }) => isOwn(from) && isOwn(to)) };
}

function isUsed(kind: Part['kind'], stage: string): boolean {
  switch (kind) {
    case 'redis':
    case 'replica':
      return usesRedis(stage);
    case 'master':
      return backendOfRow(stage) === 'masters';
    case 'zookeeper':
      return backendOfRow(stage) === 'zookeeper';
    case 'mysql':
      return backendOfRow(stage) === 'mysql';
    default:
      return true;
  }
}
