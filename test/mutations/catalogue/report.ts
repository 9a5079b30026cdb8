import type { Mutation } from '../mutation.ts';

/** What a run tells: the page, the terminal, the exit code, the bench. */
export const report: Mutation[] = [
  {
    name: 'markup-not-escaped',
    file: 'loadtest/report/escape.ts',
    find: "    .replaceAll('<', '&lt;')\n",
    replace: '',
    why: 'A name from outside becomes a tag of the page.',
    tests: ['test/loadtest/report/page.test.ts'],
    title: 'cannot become markup',
  },
  {
    name: 'unknown-run-ends-with-0',
    file: 'loadtest/commands/run-command.ts',
    find: "results.verdict === 'as-taught'",
    replace: "results.verdict !== 'not-as-taught'",
    why: 'A script that runs the staircase takes an unknown run for a good one.',
    tests: ['test/soak/loadtest/commands/endings.test.ts'],
    title: 'redis-server: unknown, never pass',
  },
  {
    name: 'starved-waiters-forgotten',
    file: 'loadtest/bench/figures.ts',
    find: '[...process.waits]), ...starved]',
    replace: '[...process.waits])]',
    why: 'A lock looks the better the more it starves.',
    tests: ['test/loadtest/bench/figures.test.ts'],
  },
  {
    name: 'bench-loses-updates-unseen',
    file: 'loadtest/bench/figures.ts',
    find: 'sections - finalCount',
    replace: 'finalCount - sections',
    why: 'The fastest lock may be none, and its lost updates are told as 0.',
    tests: ['test/loadtest/bench/figures.test.ts'],
  },
];
