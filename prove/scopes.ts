// The scopes of the model checker: what may go wrong (the fault model), and what must still hold. Most correspond to a drill.

import { nameInBucket } from '../services/inventory/servers/store.ts';
import type { Command } from '../simulation/world/commands.ts';
import { BUCKET_COUNT, inBuckets, keysOf, LEASE_MS, type SaleScript, STOCK_KEY } from './sale.ts';
import { type ScopeName, scopesInEnglish } from './wording.ts';

/** What must hold in every interleaving. */
export type Demand =
  /** No two processes are inside at the same time, unless both only look. */
  | 'alone'
  /** Who only looks sees the same stock each time that it reads it. */
  | 'same stock'
  /** No two sales are inside at the same time while the leases of both run. */
  | 'alone within leases'
  /** Nobody else changes the lock of a holder that is inside and within its lease. */
  | 'untouched'
  /** Every sale that was answered is in the stock. */
  | 'no lost sale'
  /** Somebody enters within two leases of a crash. */
  | 'soon after a crash'
  /** A holder that asks for its own lock has it within a lease. */
  | 're-entry'
  /** No more are inside at the same time than there are permits. */
  | 'within permits'
  /** No sales wait for each other: each for a lock that another one of them has. */
  | 'no deadlock'
  /** Nobody waits for longer than a pause between two tries while the lock is free. */
  | 'no wait for a free lock'
  /** No sale enters later than its client has hung up. */
  | 'no entry after a hang-up'
  /** No sale fails. */
  | 'all sell'
  /** At the end there is no timer, no subscription, and no key but those of the stock. */
  | 'nothing left';

/** How often each fault may happen. */
export interface Budget {
  /** A holder is paused, for three leases at most. */
  pauses: number;
  /** A command of the scope is held for at most three leases; its process continues. */
  delays: number;
  /** A holder is killed. */
  crashes: number;
  /** A client disconnects while it waits. */
  hangUps: number;
  /** The server is replaced by a replica that has not received the last command. */
  failovers: number;
  /** A master is paused until the end. */
  freezes: number;
  /** A reply of a master is held for at most three leases. */
  lateVotes: number;
  /** A master restarts empty. */
  restarts: number;
  /** The clock of a master jumps ahead by a lease. */
  clockJumps: number;
}

export interface Scope {
  name: string;
  /** The scope in a sentence, as the docs and the report say it. */
  says: string;
  budget: Partial<Budget>;
  /** `masters`: for locks that ask several servers. `buckets`: for a stock that lies in several keys of one. */
  servers: 'one' | 'masters' | 'any' | 'buckets';
  /** The units of each bucket at the beginning; 1 in each when it is not given. */
  units?: number[];
  /** Some only look at the stock, under a lock that is made for it. */
  hasReaders?: boolean;
  /** The least number of processes that shows it. */
  processes?: number;
  /** No event is later than this, in milliseconds; 5 leases when it is not given. */
  horizonMs?: number;
  /** Which commands may be held up: writes of the stock, or what a holder sends that changes the lock, such as its release. */
  delayed?: 'writes' | 'releases';
  /** What another process must have done since, before a held command continues. Without it, nothing. */
  goesOnAfter?: 'read' | 'wrote';
  /** Which processes may be paused and killed, by their numbers from 0; all of them when it is not given. */
  mayPause?: (process: number) => boolean;
  mayCrash?: (process: number) => boolean;
  /** All ask for the lock before time goes on. */
  allComeAtOnce?: boolean;
  /** What the sales of a process do besides; its number is 0 for A. */
  script?: (process: number) => Partial<SaleScript>;
  /** The server knows no script at the beginning. */
  isCold?: boolean;
  /** It is for semaphores: every process is told of so many permits. */
  permits?: number;
  /** How many skus there are, for locks that take several; one when it is not given. */
  skus?: number;
  demands: Demand[];
}

const isScript = ([name]: Command) => /^EVAL/.test(String(name));
/** The keys of the stock, in whatever bucket. */
const stockKeys: unknown[] = inBuckets(STOCK_KEY);
/** The write of the stock. */
export const isWrite = (command: Command) =>
  (command[0] === 'SET' && stockKeys.includes(command[1])) ||
  (isScript(command) && stockKeys.includes(command[3]) && command.length > 7);

/** The skus of a scope, by their numbers. */
export const skusOf = ({ skus = 1 }: Pick<Scope, 'skus'>) => Array.from({ length: skus }, (_, at) => at + 1);
/** The units of each bucket at the beginning: so few that the last one is soon sold. */
export const unitsInBuckets = ({ units }: Pick<Scope, 'units'>) =>
  units ?? Array.from({ length: BUCKET_COUNT }, () => 1);
/** The command by which each sku has so many units in stock at the beginning, or each bucket its own. */
export function stockCommand(scope: Pick<Scope, 'skus' | 'units'>, units: number, isInBuckets = false): Command {
  if (!isInBuckets) return ['MSET', ...skusOf(scope).flatMap((sku) => [keysOf(sku).stock, units])];
  return ['MSET', ...unitsInBuckets(scope).flatMap((each, bucket) => [nameInBucket(STOCK_KEY, bucket), each])];
}

const isAlone: Demand[] = ['alone', 'untouched', 'no lost sale'];
const withinLeases: Demand[] = ['alone within leases', 'untouched'];

/** Of any servers, and without a fault, where nothing else is said. */
const own: Record<ScopeName, Partial<Omit<Scope, 'name'>> & Pick<Scope, 'demands'>> = {
  plain: { demands: [...isAlone, 'all sell', 'nothing left'] },
  'lost-wakeup': { servers: 'one', demands: ['no wait for a free lock', 'all sell'] },
  'script-cache-empty': { servers: 'one', isCold: true, demands: [...isAlone, 'all sell'] },
  'crashed-holder': { budget: { crashes: 1 }, demands: ['alone within leases', 'soon after a crash'] },
  'slow-holder': { budget: { pauses: 1 }, demands: withinLeases },
  'late-release': { servers: 'one', budget: { delays: 1 }, delayed: 'releases', demands: withinLeases },
  'nested-call': {
    script: (process) => (process === 0 ? { nested: 'same object' } : {}),
    demands: [...isAlone, 're-entry'],
  },
  'nested-object': {
    script: (process) => (process === 0 ? { nested: 'another object' } : {}),
    demands: [...isAlone, 're-entry'],
  },
  'nested-long-sale': {
    servers: 'one',
    horizonMs: 10 * LEASE_MS,
    allComeAtOnce: true,
    script: (process) => (process === 0 ? { nested: 'same object', businessMs: 2.5 * LEASE_MS } : {}),
    demands: [...isAlone, 're-entry', 'nothing left'],
  },
  'long-sale': { horizonMs: 10 * LEASE_MS, script: () => ({ businessMs: 2.5 * LEASE_MS }), demands: isAlone },
  'paused-process': { budget: { pauses: 1 }, demands: ['no lost sale'] },
  'late-write': { budget: { delays: 1 }, delayed: 'writes', goesOnAfter: 'wrote', demands: ['no lost sale'] },
  'crossed-write': { budget: { delays: 1 }, delayed: 'writes', goesOnAfter: 'read', demands: ['no lost sale'] },
  'early-read': {
    servers: 'one',
    hasReaders: true,
    script: (process) => (process === 0 ? {} : { isReader: true }),
    demands: [...isAlone, 'same stock', 'all sell', 'nothing left'],
  },
  failover: { servers: 'one', budget: { failovers: 1 }, demands: ['alone', 'no lost sale'] },
  'client-gone': {
    servers: 'one',
    budget: { hangUps: 1 },
    demands: ['alone within leases', 'no wait for a free lock', 'no entry after a hang-up', 'nothing left'],
  },
  'zombie-renewal': {
    servers: 'one',
    processes: 3,
    horizonMs: 8 * LEASE_MS,
    budget: { pauses: 1, crashes: 1 },
    mayPause: (process) => process === 0,
    mayCrash: (process) => process === 1,
    allComeAtOnce: true,
    script: (process) => (process === 0 ? { businessMs: 3.2 * LEASE_MS } : {}),
    demands: ['soon after a crash'],
  },
  'crossed-skus': {
    servers: 'one',
    skus: 2,
    script: (process) => ({ basket: process % 2 === 0 ? [1, 2] : [2, 1] }),
    demands: ['no deadlock', 'alone', 'no lost sale', 'all sell', 'nothing left'],
  },
  'put-back': {
    servers: 'buckets',
    processes: 3,
    units: [0, 1],
    script: (process) => (process === 0 ? { putsBack: true } : {}),
    demands: [...isAlone, 'all sell', 'nothing left'],
  },
  'frozen-master': { servers: 'masters', budget: { freezes: 1 }, demands: [...isAlone, 'all sell'] },
  'late-votes': { servers: 'masters', budget: { lateVotes: 1 }, demands: ['alone within leases', 'no lost sale'] },
  amnesia: { servers: 'masters', budget: { restarts: 1 }, demands: ['alone within leases'] },
  'clock-jump': { servers: 'masters', budget: { clockJumps: 1 }, demands: ['alone within leases'] },
  'three-clerks': {
    processes: 3,
    permits: 2,
    script: () => ({ permits: 2 }),
    demands: ['within permits', 'all sell', 'nothing left'],
  },
  'fourth-clerk': {
    processes: 3,
    permits: 2,
    budget: { pauses: 1 },
    script: () => ({ permits: 2 }),
    demands: ['within permits'],
  },
};

/** The names of all scopes. */
export const scopes: (Scope & { name: ScopeName })[] = (Object.keys(own) as ScopeName[]).map((name) => ({
  name,
  says: scopesInEnglish[name],
  servers: 'any',
  budget: {},
  ...own[name],
}));
