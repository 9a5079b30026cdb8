import { defineConfig } from 'vitest/config';
import LongestFirst from './test/longest-first.ts';

/** What a change to a stage, a script, a pure part or a text can break: `npm run test:quick`. They start no server: Valkey is in their process. */
const quick = [
  'test/workshop/exercises/{format,shown}.test.ts',
  'test/loadtest/bench/**/*.test.ts',
  'test/scripts/{narrator,options,tracks}.test.ts',
  'test/loadtest/evidence/**/*.test.ts',
  'test/loadtest/narration/**/*.test.ts',
  'test/loadtest/prove/{plan,results}.test.ts',
  'test/loadtest/report/**/*.test.ts',
  'test/loadtest/scenarios/{page,stock}.test.ts',
  'test/loadtest/worlds/foreign/{answers,command-kinds,said,sales-seen}.test.ts',
  'test/loadtest/{staircase,worlds/simulated/cells}/!(outage).test.ts',
  'test/workshop/{questions,page/lessons,server/{own-addresses,room,stream}}.test.ts',
  'test/locks/{*,beyond/!(mysql*|zookeeper*),drivers/*}.test.ts',
  'test/lua/**/*.test.ts',
  'test/prove/refused.test.ts',
  'test/simulation/!(sockets).test.ts',
  'test/services/inventory/{sale/history,settings/{server-url,setting-error},orders/idempotency-key,orders/schedules/schedule}.test.ts',
];
/** They read the pages and the sources, and start no server. `npm run check` runs them, and `npm test` leaves them out. */
const lesson = ['test/lesson/**/*.test.ts'];
/** What needs real time, or much of it: `npm run soak`, with one worker. No part of `npm test`. */
const soak = ['test/soak/**/*.test.ts'];

/** Published locks keep connections and timers for as long as their process lives, so they share theirs with no other file. */
const peers = ['test/loadtest/peers/*.test.ts'];

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
    expect: { poll: { timeout: 120_000 } },
    retry: 0,
    sequence: { sequencer: LongestFirst },
    setupFiles: 'test/each-file.ts',
    // As scripts/run.sh has it: Node warns of its WASI, in which Valkey runs.
    execArgv: ['--disable-warning=ExperimentalWarning'],
    // The tests run real servers, and must pass on a machine of two cores.
    projects: [
      group('quick', 1, quick, [], 2),
      group('real', 2, ['test/**/*.test.ts'], [...quick, ...lesson, ...soak, ...peers], 3),
      { extends: true, test: { name: 'peers', include: peers, maxWorkers: 3, sequence: { groupOrder: 2 } } },
      group('lesson', 3, lesson, [], 2),
      { extends: true, test: { name: 'soak', include: soak, maxWorkers: 1, sequence: { groupOrder: 4 } } },
    ],
  },
});
