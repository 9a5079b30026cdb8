// What is known of a service: what its user says, and what a few sales that nobody disturbed have taught.

import type { Command, Exchange } from '../../../stack/proxy/link.ts';
import type { Wire } from '../../harness/wire.ts';
import { type Answers, masked, readByMask } from './answers.ts';
import { isPlain, keysOf, kindOf, names, type StockKinds, setsAnew, unitsIn } from './command-kinds.ts';
import type { Running } from './running.ts';
import type { SeenWire } from './sales-seen.ts';
import type { RowPlace, StockRow } from './stock-row.ts';

/** What the user says of a service. What is left out is learned. */
export interface Said {
  sale?: { method: 'GET' | 'POST'; path: string; json?: string | undefined } | undefined;
  /** The key of the stock, and the field where that is a hash. Or where it is in MySQL, as an address. */
  stock?: string | undefined;
  field?: string | undefined;
  /** What is in the answer to a sale, and in the one of an empty shop. */
  sold?: string | undefined;
  soldOut?: string | undefined;
  /** How long the lease of its lock is, in milliseconds. */
  leaseMs?: number | undefined;
  /** Its copies run already. */
  running?: Running | undefined;
  /** The stock, where that is in MySQL. */
  row?: StockRow | undefined;
}

export interface Learned extends StockKinds {
  sale: NonNullable<Said['sale']>;
  stock: string;
  field?: string | undefined;
  /** Where the stock is in MySQL, when it is there. */
  row?: RowPlace | undefined;
  answers: Answers;
  lock: {
    /** Those that are in Redis while one is inside. */
    keys: string[];
    /** How long they last, in milliseconds: 0 where there are none, Infinity where they have no end. */
    leaseMs: number;
    /** Commands of the lock come from a node while its sale is inside. */
    isRenewed: boolean;
    /** The commands by which it is given up, by their kinds. */
    release: string[];
  };
  /** LEASE_MS in the environment is its lease. */
  obeysLease: boolean;
  /** All sales of a node share one connection to Redis, and one to MySQL. */
  isShared: boolean;
  /** How long its client waits for an answer of Redis, in milliseconds: Infinity where it waited for as long as it was tried. */
  patienceMs: number;
  /** How long a sale takes that nobody keeps waiting, in milliseconds. */
  saleMs: number;
  /** What Redis says to a write that it has taken: the same each time, or a number. */
  written: { same: string } | 'a number';
  /** What passes to MySQL can't be read: it is TLS, or compressed. */
  isUnreadable: boolean;
  /** A sale asks Redis for something. */
  usesRedis: boolean;
  /** Keys that are in Redis while nobody sells. */
  idle: string[];
  /** The commands of one sale, as they are shown. */
  oneSale: string[];
}

/** Of what a client waits for an answer, so much is used. */
export const OF_PATIENCE = 0.85;

/** True for what is of the stock, or stays in Redis while nobody sells. */
const isStockKey = ({ stock, idle }: Pick<Learned, 'stock' | 'idle'>, key: string) =>
  key === stock || key.startsWith(`${stock}:`) || idle.includes(masked(key));

/** A statement that locks a row, or a name. */
const locking = /\bFOR\s+UPDATE\b|\bGET_LOCK\s*\(/i;

/** True for a command that names a key of a lock: one that is not there while nobody sells. And for a statement that locks. */
export function isOfLock(known: Pick<Learned, 'stock' | 'row' | 'idle'>, command: Command): boolean {
  if (command.isSql) return known.row !== undefined && locking.test(command.args[0] ?? '');
  return !names(command, known) && keysOf(command).some((key) => !isStockKey(known, key));
}

/** How the service that is known so shows on the wire. */
export function wireOf(known: Learned): Wire & SeenWire {
  const { stock, row, read, write, written, lock, answers, sale } = known;
  const isOf = (command: Command, kind: string | undefined) => kindOf(command) === kind && names(command, known);
  return {
    nodesTell: false,
    longestSaleMs: OF_PATIENCE * known.patienceMs,
    sale,
    readAnswer: (status, body) => readByMask(answers, status, body),
    stockKey: stock,
    isStockKey: (key) => isStockKey(known, key),
    isStockRead: (command) => isOf(command, read),
    isStockWrite: (command) => isOf(command, write),
    isShared: known.isShared,
    seesWrites: !known.isUnreadable,
    overwrites: row ? setsAnew(write, row) : isPlain(write) && (written === 'a number' || written.same !== 'QUEUED'),
    readUnits({ reply: { text, row: found } }: Exchange) {
      if (!row) return Number(text.match(/-?\d+/)?.[0] ?? 0);
      const units = Number((found && unitsIn(found, row)) ?? Number.NaN);
      return Number.isInteger(units) ? units : undefined;
    },
    hasWritten({ reply: { text, changed = 0 } }: Exchange) {
      if (row) return changed > 0;
      return written === 'a number' ? Number(text) >= 0 : text === written.same || text === 'OK';
    },
    lockKey: () => lock.keys[0] ?? `${stock}:no lock`,
    lockKeysIn: async (redis) => (await redis.keys('*')).filter((key) => !isStockKey(known, key)),
    isOfLock: (command) => isOfLock(known, command),
    isRelease: (command) => isOfLock(known, command) && lock.release.includes(kindOf(command)),
    isRenewal: () => false,
  };
}
