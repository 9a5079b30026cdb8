import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';

const buckets = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30];

/** How often a node looks how late its event loop is, in milliseconds: every 10 would cost a hundredth of a core while it is idle. */
const EVENT_LOOP_LOOK_MS = 100;

/** What `/metrics` shows, in Prometheus' names and units (seconds). */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_LOOK_MS });

  return {
    registry,
    sales: new Counter({
      name: 'lockstep_sales_total',
      help: 'Sales by lock and outcome',
      labelNames: ['lock', 'outcome'],
      registers,
    }),
    waitSeconds: new Histogram({
      name: 'lockstep_lock_wait_seconds',
      help: 'Time from asking for the lock to having it',
      labelNames: ['lock'],
      buckets,
      registers,
    }),
    holdSeconds: new Histogram({
      name: 'lockstep_lock_hold_seconds',
      help: 'Time from having the lock to giving it up',
      labelNames: ['lock'],
      buckets,
      registers,
    }),
    leaseLosses: new Counter({
      name: 'lockstep_lease_losses_total',
      help: 'Leases that a renewal or a release found to be lost',
      labelNames: ['lock'],
      registers,
    }),
    releaseRetries: new Counter({
      name: 'lockstep_release_retries_total',
      help: 'Releases that no server answered, and that were tried again',
      registers,
    }),
  };
}

export type Metrics = ReturnType<typeof createMetrics>;
