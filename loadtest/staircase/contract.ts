// What is taught of the contract: the checks that every lock goes through without load, and the built-in locks under each.

import type { Promises } from '../evidence/promises.ts';
import type { Sign } from './staircase.ts';
import { readTable } from './table.ts';

// ✔ holds, ✘ fails, – does not apply: it does not do, or does not promise, what the check looks at.
const table = `
                   contract-enter
                   │  contract-keys
                   │  │  contract-late-release
                   │  │  │  contract-late-acquire
                   │  │  │  │  contract-same-node
                   │  │  │  │  │  contract-long-hold
                   │  │  │  │  │  │  contract-crash
                   │  │  │  │  │  │  │  contract-dead-heir
                   │  │  │  │  │  │  │  │  contract-not-held
                   │  │  │  │  │  │  │  │  │  contract-lost
                   │  │  │  │  │  │  │  │  │  │  contract-nested
                   │  │  │  │  │  │  │  │  │  │  │  contract-abort
                   │  │  │  │  │  │  │  │  │  │  │  │  contract-abort-many
                   │  │  │  │  │  │  │  │  │  │  │  │  │  contract-wake-up
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  contract-herd
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  contract-failed-renewal
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  contract-quiet
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  contract-commands
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  contract-leftovers
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  contract-heap
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  contract-order
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  contract-turn
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  contract-redis-back
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  contract-late-renewal
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  contract-many-keys
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  contract-one-try
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  contract-clock
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  contract-tokens
0-none             ✘  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –
1-in-process       ✘  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –  –
2-recursive-retry  ✔  ✔  ✘  ✔  ✘  ✔  ✘  ✘  ✘  –  –  ✔  ✔  –  –  –  ✔  ✔  ✔  ✔  –  –  –  –  –  ✘  ✔  –
3-spin             ✔  ✔  ✘  ✔  ✘  ✔  ✘  ✘  ✘  –  –  ✔  ✔  –  –  –  ✔  ✔  ✔  ✔  –  –  –  –  –  ✘  ✔  –
4-ttl              ✔  ✔  ✘  ✔  ✘  –  ✔  ✔  ✘  –  –  ✔  ✔  –  –  –  ✔  ✔  ✔  ✔  –  –  –  –  –  ✔  ✔  –
5-owner-check      ✔  ✔  ✘  ✔  ✔  –  ✔  ✔  ✔  –  –  ✔  ✔  –  –  –  ✔  ✔  ✔  ✔  –  –  –  –  –  ✔  ✔  –
6-lua-release      ✔  ✔  ✔  ✔  ✔  –  ✔  ✔  ✔  –  –  ✔  ✔  –  –  –  ✔  ✔  ✔  ✔  –  –  –  –  –  ✔  ✔  –
7-reentrant        ✔  ✔  ✔  ✔  ✔  –  ✔  ✔  ✔  –  ✔  ✔  ✔  –  –  –  ✔  ✔  ✔  ✔  –  –  –  –  –  ✔  ✔  –
8-auto-renew       ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  –  ✔  ✔  ✔  –  –  ✔  ✔  ✔  ✔  ✔  –  –  ✔  ✔  ✔  ✔  ✔  –

delete-if-equal    ✔  ✔  ✔  ✔  ✔  –  ✔  ✔  ✔  –  –  ✔  ✔  –  –  –  ✔  ✔  ✔  ✔  –  –  –  –  –  ✔  ✔  –
bounded            ✔  ✔  ✔  ✔  ✔  ✘  ✔  ✔  ✔  ✔  ✔  ✔  ✔  –  –  ✔  ✔  ✔  ✔  ✔  –  –  ✘  ✔  ✘  ✔  ✔  –
blocking           ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  –  –  ✔  ✔  ✔  ✔  ✔  –
fair               ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  –
cohort             ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  –  ✔  ✔  ✔  ✔  ✔  ✔  –
combine            ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  –  ✔  ✔  ✔  ✔  ✔  ✔  ✔
read-write         ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  –  –  ✔  ✔  ✔  ✔  ✔  –  –  ✔  ✔  ✔  ✔  ✔  –
fenced-writes      ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  –  –  ✔  ✔  ✔  ✔  ✔  –  –  ✔  ✔  ✔  ✔  ✔  ✔
fenced             ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  –  –  ✔  ✔  ✔  ✔  ✔  –  –  ✔  ✔  ✔  ✔  ✔  ✔
buckets            ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  –  –  ✔  ✔  ✔  ✔  ✔  –  –  ✔  ✔  ✔  ✔  ✔  ✔
multi              ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  –  –  ✔  ✔  ✔  ✔  ✔  –  –  ✔  ✔  ✔  ✔  ✔  ✔
redlock            ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  –  –  ✔  ✔  ✔  ✔  ✔  –  –  ✔  ✔  ✔  ✔  ✔  –
`;

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
  'contract-one-try': 'does one of two that try once at the same moment stay out, and does nothing stay?',
  'contract-clock': 'is a holder alone when the clocks of the nodes differ?',
  'contract-tokens': 'do fencing tokens grow after a quiet day?',
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
  redlock: { reentry: true, renewal: true, masters: true },
};

const noEnd = 'The key has no end, so a dead holder keeps it for ever.';
const threeRenewals = 'It renews three times, and no more: a sale that hangs must not keep the lock.';
const deletesAny = 'release() deletes the key, also when another has it by then.';

/** Why a built-in lock fails a check. */
const reasons: Record<string, Record<string, string>> = {
  'contract-enter': {
    '0-none': 'It keeps nobody out.',
    '1-in-process': 'Its mutex is in one process: the other node has its own.',
  },
  'contract-late-release': {
    '2-recursive-retry': deletesAny,
    '3-spin': deletesAny,
    '4-ttl': deletesAny,
    '5-owner-check': 'It looks and deletes in two commands: the owner changes between them.',
  },
  'contract-same-node': { '2-recursive-retry': deletesAny, '3-spin': deletesAny, '4-ttl': deletesAny },
  'contract-long-hold': { bounded: threeRenewals },
  'contract-crash': { '2-recursive-retry': noEnd, '3-spin': noEnd },
  'contract-dead-heir': { '2-recursive-retry': noEnd, '3-spin': noEnd },
  'contract-not-held': { '2-recursive-retry': deletesAny, '3-spin': deletesAny, '4-ttl': deletesAny },
  'contract-redis-back': { bounded: threeRenewals },
  'contract-many-keys': { bounded: threeRenewals },
  'contract-one-try': { '2-recursive-retry': noEnd, '3-spin': noEnd },
};

const names = Object.keys(questions);
const rows = table.split('\n').flatMap((line) => line.match(/^[a-z0-9-]+/)?.[0] ?? []);
const taught = readTable<Sign>(table, { columns: names, rows, signs: ['✔', '✘', '–'] });

/** The checks of the contract, in their order. */
export const checkNames: string[] = taught.columns;

/** The built-in locks that have a contract: those whose state is in Redis, and needs no replica there. */
export const contractRows: Record<string, Record<string, Sign>> = taught.rows;

/** True for a cell that is a check of the contract, and no drill. */
export function isCheck(name: string): boolean {
  return name.startsWith('contract-');
}

/** What a check asks. Undefined for one that this version does not know. */
export function questionOfCheck(name: string): string | undefined {
  return Object.hasOwn(questions, name) ? questions[name] : undefined;
}

/** Why a built-in lock fails a check. Undefined where it is taught to hold. */
export function whyItFails(row: string, check: string): string | undefined {
  return reasons[check]?.[row];
}
