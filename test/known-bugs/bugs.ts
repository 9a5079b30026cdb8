import { join } from 'node:path';
import type { Promises } from '../../loadtest/evidence/promises.ts';
import { editsIn, readBlocks } from '../edits.ts';
import type { KnownBug, LockToGrade } from './known-bug.ts';

const correct = 'test/known-bugs/correct.ts';
const stage6 = 'locks/6-lua-release.ts';
const stage8 = 'locks/8-auto-renew.ts';
const blocking = 'locks/beyond/blocking.ts';
const fair = 'locks/beyond/fair.ts';
const cohort = 'locks/beyond/cohort.ts';
const fenced = 'locks/beyond/fenced.ts';

/** Locks with nothing wrong: none of them may fail what it promises. Each bug is compared with the one that it was put into. */
export const controls: LockToGrade[] = [
  {
    name: 'control-plain',
    lock: correct,
    changes: [],
    promises: { renewal: true },
    why: 'Nothing. It is a key with a lease, a token of its owner and a watchdog.',
  },
  {
    name: 'control-auto-renew',
    lock: stage8,
    changes: [],
    promises: { reentry: true, renewal: true },
    why: 'Nothing. It is stage 8, which is re-entrant.',
  },
  {
    name: 'control-lua-release',
    lock: stage6,
    changes: [],
    promises: {},
    why: 'Nothing. It is stage 6, which promises less.',
  },
  {
    name: 'control-blocking',
    lock: blocking,
    changes: [],
    promises: { reentry: true, renewal: true },
    why: 'Nothing. It is our `blocking`, re-entrant and with messages.',
  },
  {
    name: 'control-fair',
    lock: fair,
    changes: [],
    promises: { reentry: true, renewal: true, fairness: 'order' },
    why: 'Nothing. It is our `fair`, with one queue for all nodes.',
  },
  {
    name: 'control-cohort',
    lock: cohort,
    changes: [],
    promises: { renewal: true, fairness: 'bounded' },
    why: 'Nothing. It is our `cohort`, which a node keeps for a bounded time.',
  },
  {
    name: 'control-fenced',
    lock: fenced,
    changes: [],
    promises: { reentry: true, renewal: true, fencing: true },
    why: 'Nothing. It is our `fenced`, with a fencing token.',
  },
];

/** What a bug has besides its block in bugs.txt. */
const more: Record<string, Partial<KnownBug>> = {
  'stage-5': { promises: {}, control: 'control-lua-release' },
  'token-checked-at-writes-only': { control: 'control-fenced' },
  'last-in-first-out': { promises: { reentry: true, renewal: true, fairness: 'order' } },
};

/** In the order of docs/known-bugs.md. */
export const knownBugs: KnownBug[] = readBlocks(join(import.meta.dirname, 'bugs.txt')).map(
  ([head = '', why = '', ...lines]) => {
    const [name = '', lock = '', caughtBy = ''] = head.split(' · ');
    return { name, lock, why, caughtBy, changes: editsIn(lines), ...more[name] };
  },
);

/** The lock without the bug. */
function controlOf({ lock, control }: LockToGrade): LockToGrade {
  const same = controls.find((each) => (control === undefined ? each.lock === lock : each.name === control));
  const [plain] = controls;
  if (plain === undefined) throw new Error('There is no control.');
  return same ?? plain;
}

/** What a lock says of itself: what it was before the bug was put into it, unless it says otherwise. */
export const promisesOf = (bug: LockToGrade): Promises => bug.promises ?? controlOf(bug).promises ?? {};
