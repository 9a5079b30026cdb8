import type { GuardWithoutLock } from '../../settings/order-settings.ts';
import { cleanUp as conditional } from './conditional.ts';
import { cleanUp as inProcess } from './in-process.ts';
import type { CleanUp } from './job.ts';
import { cleanUp as underLock } from './lock.ts';
import { cleanUp as none } from './none.ts';

const withoutLock: Record<string, CleanUp> = { none, 'in-process': inProcess, conditional } satisfies Record<
  GuardWithoutLock,
  CleanUp
>;

export const jobLockKey = (guard: string) => `{job:order-cleanup}:lock:${guard}`;

export const guardNamed = (name: string): CleanUp => withoutLock[name] ?? underLock;
