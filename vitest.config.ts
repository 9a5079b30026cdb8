import { defineConfig } from 'vitest/config';

/** What a change to a stage, a script, a pure part or a text can break: `npm run test:quick`. They need a Redis and nothing else. */
const quick = [
  'test/lesson/**/*.test.ts',
  'test/loadtest/bench/**/*.test.ts',
  'test/loadtest/commands/{narrator,options}.test.ts',
  'test/loadtest/drills/chosen-cells.test.ts',
  'test/loadtest/evidence/**/*.test.ts',
  'test/loadtest/report/**/*.test.ts',
  'test/loadtest/staircase/**/*.test.ts',
  'test/locks/*.test.ts',
  'test/locks/drivers/**/*.test.ts',
  'test/lua/**/*.test.ts',
  'test/services/inventory/{redis-url,orders/idempotency-key,orders/schedule}.test.ts',
];
/** They fill the machine, and their limits in time are what is measured. */
const alone = [
  'test/loadtest/commands/{bench,pause}.test.ts',
  'test/loadtest/drills/{busy,figures}.test.ts',
  'test/services/inventory/{cluster,outage,sentinel,waiting}.test.ts',
];
/** They stage faults step by step, on several stacks. */
const staging = [
  'test/loadtest/commands/{drill,grade,replay}.test.ts',
  'test/loadtest/drills/**/*.test.ts',
  'test/loadtest/orders/drills.test.ts',
];
/** They mostly wait, and their limits in time ask for a machine that does little else. */
const waiting = [
  'test/locks/beyond/**/*.test.ts',
  'test/nginx/**/*.test.ts',
  'test/scripts/reconcile.test.ts',
  'test/services/inventory/lab/listener.test.ts',
  'test/services/inventory/orders/**/*.test.ts',
  'test/services/inventory/{mysql,sale,shutdown,zookeeper}.test.ts',
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
    testTimeout: 120_000,
    hookTimeout: 120_000,
    setupFiles: 'test/each-file.ts',
    // The tests run real servers, and must pass on a machine of two cores.
    projects: [
      group('quick', 1, quick, [], 2),
      group('alone', 2, alone, quick, 2),
      group('staging', 3, staging, [...quick, ...alone], 2),
      group('waiting', 4, waiting, quick, 2),
      group('together', 5, ['test/**/*.test.ts'], [...quick, ...alone, ...staging, ...waiting, ...replacing], 2),
      { extends: true, test: { name: 'replacing', include: replacing, maxWorkers: 2, sequence: { groupOrder: 5 } } },
    ],
  },
});
