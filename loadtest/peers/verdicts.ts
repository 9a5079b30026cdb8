// The results of the conformance checks for each published lock, in the version and with the options of its adapter.

interface PeerVerdict {
  /** The checks that it fails, without `contract-`. Every other check holds, or does not apply. */
  fails: string;
  /** The checks that it fails and that ask for more than it promises. */
  notPromised: string;
}

/** By the names of the adapters. `npm run grade -- --libraries` finds them again, and a test of the soak does. */
export const peerVerdicts: Record<string, PeerVerdict> = {
  redlock: {
    fails: 'lost redis-back lost-reply belief sequences seeded-orders',
    notPromised: 'abort-many',
  },
  'redlock-4': {
    fails: 'sequences',
    notPromised: 'abort-many',
  },
  'sesamecare-redlock': {
    fails: 'not-held lost lost-reply sequences seeded-orders',
    notPromised: 'abort-many',
  },
  'redlock-universal': {
    fails: 'lost commands redis-back lost-reply sequences',
    notPromised: 'not-held abort-many',
  },
  'redis-semaphore-redlock': {
    fails: 'lost commands redis-back belief sequences',
    notPromised: 'keys not-held',
  },
  'redis-semaphore': {
    fails: 'lost failed-renewal redis-back lost-reply belief sequences',
    notPromised: 'keys not-held',
  },
  'node-redisson': {
    fails: 'enter wake-up herd leftovers redis-back lost-reply failed-release sequences',
    notPromised: 'keys',
  },
  'simple-redis-mutex': {
    fails: 'late-acquire herd lost-reply sequences',
    notPromised: 'keys not-held abort-many',
  },
  murlock: {
    fails: '',
    notPromised: 'abort-many',
  },
  'node-redis-warlock': {
    fails: 'lost-reply',
    notPromised: 'abort-many',
  },
  'redis-lock': {
    fails: 'late-release lost-reply',
    notPromised: 'keys not-held abort-many',
  },
  'async-mutex': {
    fails: 'seeded-orders',
    notPromised: 'enter',
  },
};
