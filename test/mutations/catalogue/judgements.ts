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
    name: 'spread-connects-servers',
    file: 'services/inventory/servers.ts',
    find: '    this.#session = session;\n',
    replace:
      "    this.#session = session;\n    Object.defineProperty(this, 'mysql', { enumerable: true, get: () => connect.mysql() });\n",
    why: 'A lock that spreads its options asks for a server that the node was started without.',
    tests: ['test/services/inventory/external-lock.test.ts'],
    title: 'spreads-options',
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
    name: 'adapter-releases-the-first-hold',
    file: 'loadtest/peers/adapter.ts',
    find: 'const held = holds.pop();',
    replace: 'const held = holds.shift();',
    why: 'The inner release of a nested call gives up the outer hold.',
    tests: ['test/loadtest/peers/adapter.test.ts'],
  },
];
