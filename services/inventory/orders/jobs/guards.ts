import type { OwnGuard } from '../../settings/order-settings.ts';
import { cleanUp as closeFirst } from './close-first.ts';
import { cleanUp as conditional } from './conditional.ts';
import { cleanUp as inProcess } from './in-process.ts';
import type { CleanUp } from './job.ts';
import { cleanUp as underLock } from './lock.ts';
import { cleanUp as none } from './none.ts';

const ownGuards: Record<OwnGuard, CleanUp> = { none, 'in-process': inProcess, 'close-first': closeFirst, conditional };

/** The key of the lock that protects the job's runs. */
export const lockOfGuard = (guard: string) => (guard === 'close-first' ? '8-auto-renew' : guard);

export const jobLockKey = (guard: string) => `{job:order-cleanup}:lock:${guard}`;

export const guardNamed = (name: string): CleanUp => ownGuards[name as OwnGuard] ?? underLock;
