// The questions of the conformance checks, by name, and what the built-in locks promise.

import type { Promises } from '../evidence/promises.ts';

/** The question of each check. */
const questions: Record<string, string> = {
  'contract-enter':
    'does a free lock let a caller in, does a held lock keep others out, and does a release let a waiter in?',
  'contract-keys': 'does every key start with the key that the lock is given?',
  'contract-late-release': 'does a late command of release() free the lock of another holder?',
  'contract-late-acquire': 'does a late command of acquire() let two holders in, or mix up the fencing tokens?',
  'contract-same-node': 'does a holder that has lost its lock harm the next one of its own process?',
  'contract-long-hold': 'does a lock that renews stay held for twenty leases?',
  'contract-crash': 'does the lock become free soon when its process is killed after any command of acquire()?',
  'contract-dead-heir': 'does the lock become free soon when its holder dies, while a former holder is still alive?',
  'contract-not-held': 'does release() report that the lock was no longer held?',
  'contract-lost': 'does the holder learn within a lease that its lock is lost?',
  'contract-nested': 'can a holder acquire its own lock again?',
  'contract-abort': 'does an abort end acquire() soon, and leave nothing in Redis?',
  'contract-abort-many': 'does any of 200 aborted waiters send a command afterwards?',
  'contract-wake-up': 'does a waiter that missed the message of a release still enter?',
  'contract-herd': 'does a release wake a bounded number of waiters?',
  'contract-failed-renewal': 'does the process survive a rejected renewal?',
  'contract-quiet': 'does the lock send nothing after its release?',
  'contract-commands': 'how many commands per second do a waiter and a holder send?',
  'contract-leftovers': 'are keys, connections, subscriptions, timers or listeners left behind?',
  'contract-heap': 'does each acquisition leave memory behind?',
  'contract-order': 'do waiters enter in the order in which they asked?',
  'contract-turn': 'how long does a waiter wait behind a node that always wants the lock?',
  'contract-redis-back': 'is the lock still held three leases after one renewal failed?',
  'contract-late-renewal': 'does everything stop when a release overtakes a renewal?',
  'contract-many-keys': 'can one process hold twelve keys at once, in whichever order it releases them?',
  'contract-one-try': 'when two callers try once at the same moment, does one enter, and is nothing left behind?',
  'contract-clock': 'is a holder alone when the clocks of the nodes differ?',
  'contract-tokens': 'do fencing tokens grow from hold to hold, even after a quiet day and an empty restart?',
  'contract-lost-reply':
    'when a command of acquire() loses its reply or fails, does a caller enter without the key, or stay locked out?',
  'contract-late-reply':
    'does a reply that arrives after the lock has stopped waiting let two holders in, or leave the lock taken?',
  'contract-failed-release':
    'after a command of release() has failed, does the next hold of the process work, and can the release be retried?',
  'contract-script-flush': 'does the lock still work after the server has lost its scripts?',
  'contract-belief': 'does the holder believe that its lease ends when it ends in Redis?',
  'contract-permits': 'do as many holders enter as there are permits, and does the permit of a dead holder come back?',
  'contract-readers': 'does a read lock let in many readers or one writer, also when a reader dies or is late?',
  'contract-replica':
    'does acquire() resolve only after a replica has confirmed the lock, and release a lock that none confirms?',
  'contract-sequences':
    'does the lock still work after any two events in its process, such as a nested call, a lost lock, a failed command or a killed waiter?',
  'contract-long-sequences': 'does the lock still work after any longer sequence of such events?',
};

/** What a built-in lock promises beyond what all of them do. */
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

/** What all built-in locks promise: the sale tries a release again that failed. */
export const promisesOfAll: Promises = { releaseRetry: true };

/** The cell of the seeded interleavings, which run in simulated time, as the checks do. */
export const SEEDED_ORDERS = 'seeded-orders';

/** The checks, in their order. */
export const checkNames: string[] = Object.keys(questions);

/** True for a conformance check, false for a drill. */
export function isCheck(name: string): boolean {
  return name.startsWith('contract-');
}

/** The question of a check. Undefined for a check that this version does not know. */
export function questionOfCheck(name: string): string | undefined {
  return Object.hasOwn(questions, name) ? questions[name] : undefined;
}
