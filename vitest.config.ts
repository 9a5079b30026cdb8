import { defineConfig } from 'vitest/config';

/** Their limits in time, or the loads that they run, ask for a machine that does nothing else. */
const alone = [
  'test/bench/bench-command.test.ts',
  'test/drills/busy.test.ts',
  'test/grade/grade-command.test.ts',
  'test/locks/beyond/{blocking,cohort,fair}.test.ts',
  'test/nginx/**/*.test.ts',
  'test/service/{mysql,outage,waiting,zookeeper}.test.ts',
  'test/stack/replay.test.ts',
];

export default defineConfig({
  test: {
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // The tests run real servers on a machine of two cores: those that mostly wait go two files at a time.
    projects: [
      {
        extends: true,
        test: { name: 'alone', include: alone, fileParallelism: false, sequence: { groupOrder: 1 } },
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
