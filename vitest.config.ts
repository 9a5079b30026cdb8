import { defineConfig } from 'vitest/config';

/** They stage faults step by step, on several stacks, and fill the machine. */
const alone = [
  'test/loadtest/commands/{bench,drill,grade,pause,replay}.test.ts',
  'test/loadtest/drills/**/*.test.ts',
  'test/loadtest/evidence/read-stock.test.ts',
  'test/loadtest/orders/drills.test.ts',
  'test/locks/8-auto-renew.test.ts',
  'test/services/inventory/{cluster,sentinel}.test.ts',
];
/** They mostly wait, and their limits in time ask for a machine that does little else. */
const waiting = [
  'test/locks/beyond/**/*.test.ts',
  'test/nginx/**/*.test.ts',
  'test/scripts/reconcile.test.ts',
  'test/services/inventory/lab/listener.test.ts',
  'test/services/inventory/orders/**/*.test.ts',
  'test/services/inventory/{mysql,outage,sale,shutdown,waiting,zookeeper}.test.ts',
];

export default defineConfig({
  test: {
    testTimeout: 30_000,
    hookTimeout: 30_000,
    setupFiles: 'test/each-file.ts',
    // The tests run real servers, and must pass on a machine of two cores: one group of files after the other.
    projects: [
      {
        extends: true,
        test: {
          name: 'alone',
          include: alone,
          fileParallelism: false,
          isolate: false,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: { name: 'waiting', include: waiting, maxWorkers: 2, isolate: false, sequence: { groupOrder: 2 } },
      },
      {
        extends: true,
        test: {
          name: 'together',
          include: ['test/**/*.test.ts'],
          exclude: [...alone, ...waiting],
          maxWorkers: 2,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
