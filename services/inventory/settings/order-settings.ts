import type { z } from 'zod';
import { hasLock, isSemaphore, lockName, strategies } from '../../../locks/index.ts';
import { cron, kind, milliseconds, oneOf, onOrOff, wholeNumber } from './setting-kinds.ts';

const ownGuards = ['none', 'in-process', 'close-first', 'conditional'] as const;
export type OwnGuard = (typeof ownGuards)[number];
const ownGuard: Record<string, string> = { '0-none': 'none', '1-in-process': 'in-process' };

const isGuard = (name: string) => hasLock(name) && !isSemaphore(name);

/** The protection that a `JOB_LOCK` selects: a built-in one, or a lock as in LOCK_VERSION. Undefined if there is no such name. */
function guardName(given: string): string | undefined {
  if (ownGuards.some((guard) => guard === given)) return given;
  const name = lockName(given);
  if (name === undefined || !isGuard(name)) return undefined;
  return ownGuard[name] ?? name;
}

const locks = Object.keys(strategies).filter((name) => isGuard(name) && !Object.hasOwn(ownGuard, name));
const knownGuards = `a number from 0 to 8, ${ownGuards.join(', ')}, or one of ${locks.join(', ')} (a semaphore would admit several runs at once)`;

/** The job's protection. Read after the external locks are added: it may be one of them. */
export const jobLock = kind(knownGuards, guardName, [...ownGuards, ...locks]);

export const orderSettings = {
  ORDERS: onOrOff().default('on'),
  // Besides those of the locks, which may all be waiting.
  MYSQL_ORDER_CONNECTIONS: wholeNumber(1, 1_000, 'connections').default(10),
  UNIT_PRICE: wholeNumber(1, 100_000_000, 'cents').default(1_000),
  ORDER_TTL_MS: milliseconds(1, 2_592_000_000).default(900_000),
  ORDER_CLEANUP_CRON: cron().optional(),
  ORDER_CLEANUP_OVERLAP: onOrOff().default('off'),
  ORDER_CLEANUP_FIXED_RATE_MS: milliseconds(10, 86_400_000).optional(),
  ORDER_CLEANUP_FIXED_DELAY_MS: milliseconds(10, 86_400_000).optional(),
  JOB_LOCK: jobLock.default('conditional'),
  JOB_LEASE_MS: milliseconds(30, 3_600_000).default(30_000),
  JOB_MIN_HOLD_MS: milliseconds(0, 3_600_000).default(0),
  PAYMENTS: onOrOff().default('off'),
  PAYMENT_MIN_IDLE_MS: milliseconds(10, 86_400_000).default(30_000),
  REFUND: oneOf('look-first', 'table-look-first', 'table', 'table-in-transaction', 'conditional').default(
    'conditional',
  ),
  IDEMPOTENCY: oneOf('none', 'in-process', 'lock', 'table').optional(),
  IDEMPOTENCY_REQUIRED: onOrOff().default('off'),
  IDEMPOTENCY_KEEP_MS: milliseconds(1, 2_592_000_000).default(86_400_000),
};

type OrderSettings = z.output<z.ZodObject<typeof orderSettings>> & { MYSQL_URL?: string | undefined };

/** The MySQL that sales write their orders to. Undefined if they write none. */
export const orderUrlOf = ({ ORDERS, MYSQL_URL }: OrderSettings) => (ORDERS === 'on' ? MYSQL_URL : undefined);

export const hasOrders = (settings: OrderSettings) => orderUrlOf(settings) !== undefined;

/** The schedules of the cleanup job that are set, by setting. Only one is allowed. */
export function schedulesOf(settings: OrderSettings) {
  const schedules = [
    ['ORDER_CLEANUP_CRON', { cron: settings.ORDER_CLEANUP_CRON, overlap: settings.ORDER_CLEANUP_OVERLAP === 'on' }],
    ['ORDER_CLEANUP_FIXED_RATE_MS', { fixedRateMs: settings.ORDER_CLEANUP_FIXED_RATE_MS }],
    ['ORDER_CLEANUP_FIXED_DELAY_MS', { fixedDelayMs: settings.ORDER_CLEANUP_FIXED_DELAY_MS }],
  ] as const;
  return schedules.filter(([name]) => settings[name] !== undefined);
}

export const idempotencyOf = (settings: OrderSettings) =>
  settings.IDEMPOTENCY ?? (hasOrders(settings) ? 'table' : 'none');
