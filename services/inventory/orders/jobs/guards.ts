import type { GuardWithoutLock } from '../../settings/order-settings.ts';
import { cleanUp as conditional } from './conditional.ts';
import { cleanUp as inProcess } from './in-process.ts';
import type { CleanUp } from './job.ts';
import { cleanUp as underLock } from './lock.ts';
import { cleanUp as none } from './none.ts';

const withoutLock: Record<GuardWithoutLock, CleanUp> = { none, 'in-process': inProcess, conditional };

export const jobLockKey = (guard: string) => `{job:order-cleanup}:lock:${guard}`;

export const guardNamed = (name: string): CleanUp => withoutLock[name as GuardWithoutLock] ?? underLock;
