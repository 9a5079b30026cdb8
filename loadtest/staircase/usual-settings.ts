/**
 * Settings of nodes that take orders, so that nobody's environment reaches them: an empty one counts as absent. No schedule is
 * set, so a tick of the clean-up comes when somebody asks for it.
 */
export const usualSettings = {
  LEASE_MS: '',
  RETRY_DELAY_MS: '',
  WAIT_TIMEOUT_MS: '',
  ORDERS: 'on',
  UNIT_PRICE: '',
  ORDER_TTL_MS: '',
  ORDER_CLEANUP_CRON: '',
  JOB_LOCK: '',
  JOB_LEASE_MS: '',
  JOB_MIN_HOLD_MS: '',
  REFUND: '',
  IDEMPOTENCY: 'none',
  IDEMPOTENCY_REQUIRED: 'off',
  IDEMPOTENCY_KEEP_MS: '',
};
