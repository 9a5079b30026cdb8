import type { StackOptions } from '../../stack/stack.ts';

/**
 * Settings of nodes that take orders, so that nobody's environment reaches them: an empty one counts as absent. No schedule is
 * set, so a tick of the clean-up comes when somebody asks for it.
 */
export const usualSettings = {
  LOCK_SCOPE: '',
  LEASE_MS: '',
  RENEW_EVERY_MS: '',
  FIXED_LEASE_MS: '',
  RETRY_DELAY_MS: '',
  WAIT_TIMEOUT_MS: '',
  BUCKETS: '',
  PERMITS: '',
  ORDERS: 'on',
  UNIT_PRICE: '',
  ORDER_TTL_MS: '',
  ORDER_CLEANUP_CRON: '',
  ORDER_CLEANUP_OVERLAP: '',
  ORDER_CLEANUP_FIXED_RATE_MS: '',
  ORDER_CLEANUP_FIXED_DELAY_MS: '',
  JOB_LOCK: '',
  JOB_LEASE_MS: '',
  JOB_MIN_HOLD_MS: '',
  PAYMENTS: '',
  PAYMENT_MIN_IDLE_MS: '',
  REFUND: '',
  IDEMPOTENCY: 'none',
  IDEMPOTENCY_REQUIRED: 'off',
  IDEMPOTENCY_KEEP_MS: '',
};

/** Nodes that take orders: each drill sets the guard, and a tick comes when it says so. */
export const orderStack: { name: string; options: StackOptions } = { name: 'orders', options: { env: usualSettings } };
