import { orderSettings } from '../../services/inventory/settings/order-settings.ts';
import { stockSettings } from '../../services/inventory/settings/stock-settings.ts';
import type { StackOptions } from '../../stack/stack.ts';

const ofLocks = ['LOCK_SCOPE', 'LEASE_MS', 'RENEW_EVERY_MS', 'FIXED_LEASE_MS', 'RETRY_DELAY_MS', 'WAIT_TIMEOUT_MS'];
const ofStock = ['BUCKETS', 'PERMITS', ...Object.keys(stockSettings)];
const unset = [...ofLocks, ...ofStock, ...Object.keys(orderSettings)].map((name) => [name, '']);

/**
 * Settings of nodes that take orders, so that the user's environment does not reach them: an empty one counts as absent. No schedule is
 * set, so the clean-up runs only on request.
 */
export const usualSettings: Record<string, string> = {
  ...Object.fromEntries(unset),
  ORDERS: 'on',
  IDEMPOTENCY: 'none',
  IDEMPOTENCY_REQUIRED: 'off',
};

/** Nodes that take orders: each drill sets the protection, and starts the runs. */
export const orderStack: { name: string; options: StackOptions } = { name: 'orders', options: { env: usualSettings } };
