import type { Pool } from 'mysql2/promise';
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { createDurationHistogram } from './durations.ts';

/** How often a node measures its event loop's delay, in milliseconds: every 10 ms would cost 1 % of a core while idle. */
const EVENT_LOOP_LOOK_MS = 100;

/** The metrics of `/metrics`, with Prometheus names and units (seconds). */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_LOOK_MS });

  const pools = new Map<string, Pool>();
  new Gauge({
    name: 'lockstep_mysql_connections',
    help: 'Connections to MySQL by pool and state; waiting counts callers without a connection',
    labelNames: ['pool', 'state'],
    registers,
    collect() {
      for (const [pool, its] of pools)
        for (const [state, count] of Object.entries(usageOf(its))) this.set({ pool, state }, count);
    },
  });

  const counter = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Counter({ name, help, labelNames, registers });
  const histogram = (name: string, help: string, ...labelNames: string[]) =>
    createDurationHistogram(registry, name, help, ...labelNames);

  return {
    registry,
    watchPool: (name: string, pool: Pool) => void pools.set(name, pool),
    requestSeconds: histogram(
      'lockstep_http_request_seconds',
      'Time from a request to the end of its response; 499 if the client disconnected first',
      'method',
      'route',
      'status',
    ),
    orders: counter('lockstep_orders_total', 'Orders by their changes of status', 'outcome'),
    jobSeconds: histogram('lockstep_job_seconds', 'Duration of a job run, by outcome', 'job', 'outcome'),
    sales: counter('lockstep_sales_total', 'Sales by lock and outcome', 'lock', 'outcome'),
    waitSeconds: histogram('lockstep_lock_wait_seconds', 'Time from requesting the lock to acquiring it', 'lock'),
    holdSeconds: histogram('lockstep_lock_hold_seconds', 'Time from acquiring the lock to releasing it', 'lock'),
    leaseLosses: counter('lockstep_lease_losses_total', 'Leases that a renewal or a release found lost', 'lock'),
    releaseRetries: counter(
      'lockstep_release_retries_total',
      'Releases retried because no server replied or Redis refused them',
    ),
  };
}

export type Metrics = ReturnType<typeof createMetrics>;

/** mysql2 exposes no counts, and counting its events would miss connections that die. */
interface Core {
  _allConnections: { length: number };
  _freeConnections: { length: number };
  _connectionQueue: { length: number };
}

function usageOf({ pool }: Pool) {
  const { _allConnections: all, _freeConnections: free, _connectionQueue: queue } = pool as unknown as Core;
  return { used: all.length - free.length, free: free.length, waiting: queue.length };
}
