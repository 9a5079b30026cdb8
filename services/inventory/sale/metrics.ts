import type { Pool } from 'mysql2/promise';
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { createDurationHistogram } from './durations.ts';

/** How often a node looks how late its event loop is, in milliseconds: every 10 would cost a hundredth of a core while it is idle. */
const EVENT_LOOP_LOOK_MS = 100;

/** What `/metrics` shows, in Prometheus' names and units (seconds). */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_LOOK_MS });

  const pools = new Map<string, Pool>();
  new Gauge({
    name: 'lockstep_mysql_connections',
    help: 'Connections to MySQL by pool and state; waiting are the callers that have none yet',
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
      'Time from a request to the end of its answer; 499 when the client hung up first',
      'method',
      'route',
      'status',
    ),
    orders: counter('lockstep_orders_total', 'Orders by what became of them', 'outcome'),
    jobSeconds: histogram('lockstep_job_seconds', 'Time that a run of a job took, by how it ended', 'job', 'outcome'),
    sales: counter('lockstep_sales_total', 'Sales by lock and outcome', 'lock', 'outcome'),
    waitSeconds: histogram('lockstep_lock_wait_seconds', 'Time from asking for the lock to having it', 'lock'),
    holdSeconds: histogram('lockstep_lock_hold_seconds', 'Time from having the lock to giving it up', 'lock'),
    leaseLosses: counter('lockstep_lease_losses_total', 'Leases that a renewal or a release found to be lost', 'lock'),
    releaseRetries: counter(
      'lockstep_release_retries_total',
      'Releases that no server answered, or that Redis refused, and that were tried again',
    ),
  };
}

export type Metrics = ReturnType<typeof createMetrics>;

/** mysql2 tells of no numbers, and counting its events would miss the connections that die. */
interface Core {
  _allConnections: { length: number };
  _freeConnections: { length: number };
  _connectionQueue: { length: number };
}

function usageOf({ pool }: Pool) {
  const { _allConnections: all, _freeConnections: free, _connectionQueue: queue } = pool as unknown as Core;
  return { used: all.length - free.length, free: free.length, waiting: queue.length };
}
