import type { Mutation } from '../mutation.ts';

const folder = 'loadtest/grade/contract';
const tests = ['test/soak/loadtest/grade/contract.test.ts'];

/** The contract: each check made blind to the bug that it is for. */
export const contract: Mutation[] = [
  {
    name: 'contract-enter-on-one-node',
    file: `${folder}/checks/enter.ts`,
    find: "if (!(await trial.isKeptOut(c, 'C, in another process,')))",
    replace: "if ((await trial.isKeptOut(c, 'C, in another process,')) === undefined)",
    why: 'A lock that keeps out its own process alone passes.',
    tests,
    title: '1-in-process',
  },
  {
    name: 'contract-leftovers-unbounded',
    file: `${folder}/checks/leftovers.ts`,
    find: "more > (name === 'timers' ? ROUNDS / 2 : 0)",
    replace: 'more > 2 * ROUNDS',
    why: 'A key of each acquisition may stay.',
    tests,
    title: 'key-per-acquisition',
  },
];
