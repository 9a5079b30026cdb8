import type { Pool } from 'mysql2/promise';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

const buckets = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30];

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

  return {
    registry,
    /** Shows how this pool is used. */
    watchPool: (name: string, pool: Pool) => void pools.set(name, pool),
    requestSeconds: new Histogram({
      name: 'lockstep_http_request_seconds',
      help: 'Time from a request to the end of its answer; 499 when the client hung up first',
      labelNames: ['method', 'route', 'status'],
      buckets,
      registers,
    }),
    orders: new Counter({
      name: 'lockstep_orders_total',
      help: 'Orders by what became of them',
      labelNames: ['outcome'],
      registers,
    }),
    jobSeconds: new Histogram({
      name: 'lockstep_job_seconds',
      help: 'Time that a run of a job took, by how it ended',
      labelNames: ['job', 'outcome'],
      buckets,
      registers,
    }),
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
