import type { Mutation } from '../mutation.ts';

/** The drills of the locks, and the adapters: what is held, what is looked at, and how it is judged. */
export const judgements: Mutation[] = [
  {
    name: 'causes-not-followed',
    file: 'services/inventory/away-server.ts',
    find: 'cause = cause.cause;',
    replace: 'cause = undefined;',
    why: 'A lock that says why it failed, in the cause of its error, is blamed for an outage of Redis.',
    tests: ['test/services/inventory/external-lock.test.ts'],
    title: 'explains-outage',
  },
  {
    name: 'adapter-keeps-what-comes-late',
    file: 'loadtest/peers/adapter.ts',
    find: '(held) => library.release(held))',
    replace: '() => {})',
    why: 'A library grants the lock to a waiter that has gone, and nobody gives it back.',
    tests: ['test/loadtest/peers/adapter.test.ts'],
  },
  {
    name: 'nested-holder-waits-behind-waiters',
    file: 'locks/beyond/blocking.ts',
    find: '    holders.add(holder);\n',
    replace: '',
    why: 'A holder that asks again waits behind those that wait for it.',
    tests: ['test/locks/contract.test.ts'],
    title: 'blocking: a request that holds and asks again',
  },
  {
    name: 'free-lock-is-no-fault',
    file: 'loadtest/evidence/rush-account.ts',
    find: 'if (longestFreeMs <= freeLimitMs) return undefined;',
    replace: 'if (longestFreeMs <= 100 * freeLimitMs) return undefined;',
    why: 'A lock that is free for seconds while sales wait is as good as any other.',
    tests: ['test/loadtest/evidence/rush-account.test.ts'],
    title: 'a lock that is free for too long while a sale waits',
  },
  {
    name: 'standstill-is-free-time',
    file: 'loadtest/evidence/free-time.ts',
    find: 'return until - from - stoodStill.reduce((sum, ms) => sum + Math.max(0, ms), 0);',
    replace: 'return until - from;',
    why: 'A machine that stands still makes a good lock fail.',
    tests: ['test/loadtest/evidence/free-time.test.ts'],
  },
  {
    name: 'json-cut-at-the-pipe',
    file: 'loadtest/commands/ending.ts',
    find: "stream.write('', () => resolve())",
    replace: 'resolve()',
    why: 'What a reader has not taken from the pipe when the command ends is lost.',
    tests: ['test/loadtest/commands/ending.test.ts'],
    title: 'to its end',
  },
];
