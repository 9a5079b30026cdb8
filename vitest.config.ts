import { defineConfig } from 'vitest/config';

/** They stage faults step by step, or their limits in time ask for a machine that does nothing else. */
const alone = [
  'test/bench/bench-command.test.ts',
  'test/drills/**/*.test.ts',
  'test/grade/grade-command.test.ts',
  'test/locks/8-auto-renew.test.ts',
  'test/locks/beyond/**/*.test.ts',
  'test/nginx/**/*.test.ts',
  'test/orders/**/*.test.ts',
  'test/service/{lab,mysql,outage,sale,shutdown,waiting,zookeeper}.test.ts',
  'test/stack/{cluster,replay,sentinel}.test.ts',
];

export default defineConfig({
  test: {
    testTimeout: 30_000,
    hookTimeout: 30_000,
    setupFiles: 'test/each-file.ts',
    // The tests run real servers on a machine of two cores: those that ask little of it go two files at a time.
    projects: [
      {
        extends: true,
        test: { name: 'alone', include: alone, fileParallelism: false, isolate: false, sequence: { groupOrder: 1 } },
      },
      {
        extends: true,
        test: {
          name: 'together',
          include: ['test/**/*.test.ts'],
          exclude: alone,
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
