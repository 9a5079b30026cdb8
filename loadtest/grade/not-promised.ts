// What a lock does not promise: a sentence for each drill that demands more than its `promises`.

import { z } from 'zod';
import { factsOfPromises } from '../../services/inventory/sale/external-lock.ts';
import { type Promises, WHILE_RENEWED } from '../evidence/promises.ts';
import type { Grade } from '../evidence/results.ts';
import { checkNames } from '../staircase/conformance.ts';
import { lockStaircase } from '../staircase/lock-stages.ts';
import { addExternalRow } from '../staircase/lookup.ts';

/** Every lock must hold these. */
const OF_EVERY_LOCK = [
  ...['contract-enter', 'contract-same-node', 'contract-late-acquire', 'contract-late-release', 'contract-one-try'],
  ...['one-node-rush', 'rush', 'sell-out', 'slow-holder', 'late-release', 'contract-permits', 'three-clerks'],
];

type Ask = [drills: string[], isPromised: (promises: Promises) => boolean, why: string];

const ASKS: Ask[] = [
  [
    ['paused-process', 'blocked-loop', 'partition', 'late-write', 'crossed-write'],
    ({ fencing = false }) => fencing,
    'It does not promise a fencing token, and without one nothing stops a late write.',
  ],
  [['nested-call', 'nested-object'], ({ reentry = false }) => reentry, 'It does not promise re-entry.'],
  [
    ['nested-long-sale'],
    ({ reentry = false, renewal = false }) => reentry && renewal,
    'It does not promise re-entry and renewal.',
  ],
  [['long-sale'], ({ renewal = false }) => renewal, 'It does not promise to renew its lease.'],
  [WHILE_RENEWED, ({ renewal = false }) => !renewal, 'It promises to hold as long as its process lives.'],
  [['fourth-clerk'], () => false, 'The lease of a paused holder ends, and another holder takes its permit.'],
  [['starvation'], ({ fairness }) => fairness !== undefined, 'It does not promise that every waiter gets in.'],
  [['overtaking'], ({ fairness }) => fairness === 'order', 'It does not promise an order.'],
  [['failover'], ({ masters = false }) => masters, 'It is in one Redis, and is lost when that fails.'],
  [['clock-jump'], () => false, 'Redis measures its lease by the system clock, so a clock that jumps ends it early.'],
  [
    ['amnesia'],
    () => false,
    'A master that restarts empty votes again. Only its operator can keep it down for a lease.',
  ],
  [['forgotten-sale', 'wrong-replica'], () => false, 'The stock is in Redis, whatever the lock does.'],
];

/** The sentences for the drills that demand more than a lock promises. */
export function notPromisedBy(promises: Promises): Record<string, string> {
  const asked = ASKS.filter(([, isPromised]) => !isPromised(promises));
  return Object.fromEntries(asked.flatMap(([drills, , why]) => drills.map((drill) => [drill, why])));
}

/** A lock that can be graded: where it is kept, and everything that it does not promise. */
export function asRow<Row extends Grade>(grade: Row): Row {
  addExternalRow(grade.stage, factsOfPromises(grade.promises));
  return { ...grade, doesNotPromise: { ...notPromisedBy(grade.promises ?? {}), ...grade.doesNotPromise } };
}

/**
 * Reads the export `doesNotPromise` of a module: why it need not hold some checks or drills, by their names. Throws an error whose message
 * is a clause when it is not understood, or names what every lock must hold.
 */
export function readDoesNotPromise(exported: unknown): Record<string, string> {
  const read = z.record(z.string(), z.string().min(1)).safeParse(exported ?? {});
  if (!read.success) throw new Error(`its doesNotPromise can't be read: ${read.error.issues[0]?.message}`);
  const names = [...checkNames, ...Object.keys(lockStaircase.columns)].filter((name) => !OF_EVERY_LOCK.includes(name));
  const odd = Object.keys(read.data).find((name) => !names.includes(name));
  if (odd !== undefined)
    throw new Error(`its doesNotPromise names ${odd}, which is not a check or a drill that a lock may fail`);
  return read.data;
}
