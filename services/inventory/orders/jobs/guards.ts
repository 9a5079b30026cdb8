import { hasLock, lockName, strategies } from '../../../../locks/index.ts';
import { cleanUp as conditional } from './conditional.ts';
import { cleanUp as inProcess } from './in-process.ts';
import type { CleanUp } from './job.ts';
import { cleanUp as underLock } from './lock.ts';
import { cleanUp as none } from './none.ts';

const withoutLock: Record<string, CleanUp> = { none, 'in-process': inProcess, conditional };
const ownGuard: Record<string, string> = { '0-none': 'none', '1-in-process': 'in-process' };

/** The name that a `JOB_LOCK` stands for: a guard without a lock, or a lock as LOCK_VERSION names it. Undefined when there is none. */
export function guardName(given: string): string | undefined {
  if (Object.hasOwn(withoutLock, given)) return given;
  const name = lockName(given);
  if (name === undefined || !hasLock(name)) return undefined;
  return ownGuard[name] ?? name;
}

export const jobLockKey = (guard: string) => `{job:order-cleanup}:lock:${guard}`;

export const guardNamed = (name: string): CleanUp => withoutLock[name] ?? underLock;

const locks = Object.keys(strategies).filter((name) => hasLock(name) && !Object.hasOwn(ownGuard, name));

/** What `JOB_LOCK` may be, as part of a sentence. */
export const knownGuards = `a number from 0 to 8, ${Object.keys(withoutLock).join(', ')}, or one of ${locks.join(', ')}`;
