import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/longest-first.ts';

/** What a change to a stage, a script, a pure part or a text can break: `npm run test:quick`. They need a Redis and nothing else. */
const quick = [
  'test/exercises/{format,shown}.test.ts',
  'test/lesson/**/*.test.ts',
  'test/loadtest/bench/**/*.test.ts',
  'test/loadtest/commands/{narrator,options}.test.ts',
  'test/loadtest/drills/chosen-cells.test.ts',
  'test/loadtest/evidence/**/*.test.ts',
  'test/loadtest/figures/**/*.test.ts',
  'test/loadtest/prove/{alike,mermaid,page,results,timeline}.test.ts',
  'test/loadtest/report/**/*.test.ts',
  'test/loadtest/staircase/**/*.test.ts',
  'test/live/client/*.test.ts',
  'test/locks/*.test.ts',
  'test/locks/drivers/**/*.test.ts',
  'test/lua/**/*.test.ts',
  'test/prove/{refused,valkey,world}.test.ts',
  'test/services/inventory/{redis-url,orders/idempotency-key,orders/schedule}.test.ts',
];
/** They judge locks by the clock, so no more than two run at a time. */
const staging = [
  'test/exercises/{orders,real-servers}.test.ts',
  'test/live/{questions,story}.test.ts',
  'test/live/server/watch.test.ts',
  'test/loadtest/commands/{bench,drill,grade,pause,replay}.test.ts',
  'test/loadtest/drills/**/*.test.ts',
  'test/loadtest/grade/known-bugs.test.ts',
  'test/loadtest/grade/contract/*.test.ts',
  'test/loadtest/harness/step-drill.test.ts',
  'test/loadtest/orders/drills.test.ts',
  'test/loadtest/prove/on-redis.test.ts',
  'test/teaching/plan.test.ts',
  'test/services/inventory/{cluster,outage,sentinel,waiting}.test.ts',
];

/** It replaces a module, so it shares none with another file. */
const replacing = ['test/scripts/stack/taken-ports.test.ts'];

/** A group of files; one group runs after the other. In a worker its files share what they import and the bundles they start. */
const group = (name: string, groupOrder: number, include: string[], exclude: string[], maxWorkers: number) => ({
  extends: true as const,
  test: { name, include, exclude, maxWorkers, isolate: false, sequence: { groupOrder } },
});

export default defineConfig({
  test: {
    // What hangs is found out; what is slow on a busy machine is no fault. A limit that is the subject stands in its test.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 10_000 } },
    setupFiles: 'test/each-file.ts',
    sequence: { sequencer: LongestFirst },
    // The tests run real servers, and must pass on a machine of two cores.
    projects: [
      group('quick', 1, quick, [], 2),
      group('staging', 2, staging, quick, 2),
      group('together', 3, ['test/**/*.test.ts'], [...quick, ...staging, ...replacing], 3),
      { extends: true, test: { name: 'replacing', include: replacing, maxWorkers: 3, sequence: { groupOrder: 3 } } },
    ],
  },
});
