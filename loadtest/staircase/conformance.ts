// The conformance checks by their names, which report and command lines use, and what the built-in locks promise.

import type { Promises } from '../evidence/promises.ts';

/** What each check asks. */
const questions: Record<string, string> = {
  'contract-enter': 'is a free lock entered, a held one by nobody else, and a waiter let in by a release?',
  'contract-keys': 'does every key begin with the key that the lock is given?',
  'contract-late-release': 'does a late command of release() free the lock of another holder?',
  'contract-late-acquire': 'does a late command of acquire() let two in, or mix up the fencing tokens?',
  'contract-same-node': 'does a holder that has lost its lock harm the next one of its own process?',
  'contract-long-hold': 'is the lock held for twenty leases, where it is renewed?',
  'contract-crash': 'is the lock free soon when its process is killed after any command of acquire()?',
  'contract-dead-heir': 'is the lock free soon when its holder is dead, and one that lost it lives?',
  'contract-not-held': 'does release() say that the lock was no longer held?',
  'contract-lost': 'is the holder told within a lease that its lock is lost?',
  'contract-nested': 'may a holder acquire its own lock again?',
  'contract-abort': 'does an abort end acquire() soon, and leave nothing in Redis?',
  'contract-abort-many': 'does any of 200 aborted waiters send anything afterwards?',
  'contract-wake-up': 'does a waiter get in that could not hear the release?',
  'contract-herd': 'does a release wake a bounded number of waiters?',
  'contract-failed-renewal': 'does the process live when a renewal is rejected?',
  'contract-quiet': 'is the lock silent after its release?',
  'contract-commands': 'how many commands a second does a waiter send, and a holder?',
  'contract-leftovers': 'do keys, connections, subscriptions, timers or listeners stay?',
  'contract-heap': 'does memory stay of each acquisition?',
  'contract-order': 'do waiters enter in the order in which they asked?',
  'contract-turn': 'how long does one waiter wait for a node that always wants the lock?',
  'contract-redis-back': 'is the lock still held three leases after one renewal failed?',
  'contract-late-renewal': 'does anything go on when a release meets a renewal on its way?',
  'contract-many-keys': 'does one process keep twelve keys at once, whichever is released first?',
  'contract-one-try': 'does one of two that try once at the same moment get in, and does nothing stay?',
  'contract-clock': 'is a holder alone when the clocks of the nodes differ?',
  'contract-tokens': 'do fencing tokens grow from hold to hold, after a quiet day and an empty start, too?',
  'contract-lost-reply':
    'does a lost reply, or an error, of any command of acquire() let one in without the key, or keep one out?',
  'contract-late-reply':
    'does a reply that comes later than the lock waits for it let two in, or leave the lock taken?',
  'contract-failed-release': 'does the next hold of a process go well when a command of release() failed?',
  'contract-script-flush': 'does the lock work on when the server has forgotten its scripts?',
  'contract-belief': 'does the holder believe in its lease neither longer nor shorter than Redis?',
  'contract-permits': 'are as many inside as there are permits, and does that of a dead holder come back?',
  'contract-readers':
    'are many readers or one writer inside, where there is a read lock, and what becomes of a reader that is dead or late?',
  'contract-replica':
    'does acquire() resolve only when a replica has confirmed the lock, and is an unconfirmed lock released?',
  'contract-sequences':
    'is it a lock after any two of the things that happen to a process: nested, lost, failed, killed while it waits …?',
  'contract-long-sequences': 'is it a lock after any longer sequence of them?',
};

/** What the built-in locks promise. Those that are not named promise nothing beyond the contract. */
export const promisesOfOurs: Record<string, Promises> = {
  '7-reentrant': { reentry: true },
  '8-auto-renew': { reentry: true, renewal: true },
  bounded: { reentry: true },
  blocking: { reentry: true, renewal: true },
  fair: { reentry: true, renewal: true, fairness: 'order' },
  cohort: { reentry: true, renewal: true, fairness: 'bounded' },
  combine: { reentry: true, renewal: true, fairness: 'bounded', fencing: true },
  'read-write': { reentry: true, renewal: true },
  'fenced-writes': { reentry: true, renewal: true, fencing: true },
  fenced: { reentry: true, renewal: true, fencing: true },
  multi: { reentry: true, renewal: true, fencing: true },
  buckets: { reentry: true, renewal: true, fencing: true },
  replicated: { reentry: true, renewal: true },
  redlock: { reentry: true, renewal: true, masters: true },
  semaphore: { renewal: true, permits: true },
};

/** The cell of the seeded orders, which are played in virtual time as the checks are. */
export const SEEDED_ORDERS = 'seeded-orders';

/** The checks, in their order. */
export const checkNames: string[] = Object.keys(questions);

/** True for a cell that is a check of the contract, and no drill. */
export function isCheck(name: string): boolean {
  return name.startsWith('contract-');
}

/** What a check asks. Undefined for one that this version does not know. */
export function questionOfCheck(name: string): string | undefined {
  return Object.hasOwn(questions, name) ? questions[name] : undefined;
}
