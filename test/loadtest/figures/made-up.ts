import type { DrillResult, RushFigures } from '../../../loadtest/evidence/results.ts';

export const rushFigures: RushFigures = {
  ...{ sent: 2000, answers: 2000, errors: 0, received: 2000, sold: 2000, soldOut: 0, lockTimeout: 0, failed: 0 },
  ...{ inDoubt: 0, initialStock: 5000, expectedStock: 3000, finalStock: 3000, lostUpdates: 0, oversold: 0 },
  ...{ throughput: 500, latencyMs: { p50: 1.2, p95: 500, p99: 1300, max: 2000 }, redisCommandsPerSale: 9 },
  soldByNode: { 'node-1': 1000, 'node-2': 1000 },
};

export const drillResult: DrillResult = {
  ...{ drill: 'rush', verdict: 'pass', taught: 'pass', figures: rushFigures, witnesses: [], witnessCount: 0 },
  reasons: ['2,000 units sold, and the stock is 3,000, as expected.'],
  stockOverTime: [{ ms: 1, stock: 4999, expected: 4999 }],
  durationMs: 4000,
};
