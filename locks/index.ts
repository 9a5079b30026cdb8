import { createLock as none } from './0-none.ts';
import { createLock as inProcess } from './1-in-process.ts';
import { createLock as recursiveRetry } from './2-recursive-retry.ts';
import { createLock as spin } from './3-spin.ts';
import { createLock as ttl } from './4-ttl.ts';
import { createLock as ownerCheck } from './5-owner-check.ts';
import { createLock as luaRelease } from './6-lua-release.ts';
import { createLock as reentrant } from './7-reentrant.ts';
import { createLock as autoRenew } from './8-auto-renew.ts';
import type { CreateLock } from './lock.ts';

/** Every lock by its name, in the order of the course. The name is also its file, its chapter and its row in every report. */
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

/** The name that a `LOCK_VERSION` stands for: a number (`4`) or a name (`4-ttl`). Undefined when there is none. */
export function lockName(version: string): string | undefined {
  const names = Object.keys(locks);
  return /^\d+$/.test(version)
    ? names.find((name) => name.startsWith(`${version}-`))
    : names.find((name) => name === version);
}
