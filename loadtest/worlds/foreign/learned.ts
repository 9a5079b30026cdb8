// What is known about a service, and how it shows in its traffic.

import type { Command, Exchange } from '../../../stack/proxy/link.ts';
import { type ServiceTold, serviceSchema } from '../../evidence/judgement.ts';
import type { Wire } from '../../harness/wire.ts';
import { masked, readByMask } from './answers.ts';
import { isPlain, keysOf, kindOf, names, setsAnew, unitsIn } from './command-kinds.ts';
import type { Sale } from './said.ts';
import type { SeenWire } from './sales-seen.ts';
import type { RowPlace } from './stock-row.ts';

/** What is reported about a service, and what else its sales have shown. */
export interface Learned extends Omit<ServiceTold, 'command' | 'sale'> {
  sale: Sale;
  field?: string | undefined;
  /** Where the stock is in MySQL, when it is there. */
  row?: RowPlace | undefined;
  /** Its lease is Infinity where it has no end. */
  lock: ServiceTold['lock'] & { leaseMs: number };
  /** Infinity where it waited for as long as it was tried. */
  patienceMs: number;
  /** What Redis says to a write that it has taken: the same each time, or a number. */
  written: { same: string } | 'a number';
  /** What passes to MySQL can't be read: it is TLS, or compressed. */
  isUnreadable: boolean;
  /** A sale asks Redis for something. */
  usesRedis: boolean;
  /** Keys that are in Redis while nobody sells. */
  idle: string[];
}

/** The report for other programs: infinite values become null. */
export function asTold(learned: Learned, command: string): ServiceTold {
  const { sale, stock, field, lock, patienceMs, saleMs } = learned;
  const orNull = (ms: number) => (Number.isFinite(ms) ? Math.round(ms) : null);
  return serviceSchema.parse({
    ...learned,
    command: command || undefined,
    sale: [sale.method, sale.path, sale.json].filter(Boolean).join(' '),
    stock: field === undefined ? stock : `${stock} ${field}`,
    lock: { ...lock, leaseMs: orNull(lock.leaseMs) },
    patienceMs: orNull(patienceMs),
    saleMs: Math.round(saleMs),
  });
}

/** How long the reply to a read is held at most, to see how long the client waits for it, in milliseconds. */
export const PATIENCE_LIMIT_MS = 2_500;
/** The part of a client's patience that is used. */
export const OF_PATIENCE = 0.85;
/** A sale is held for less of it: it is over in its time, and a busy machine lets it go late. */
export const HELD_OF_PATIENCE = 0.6;

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

/** How a learned service looks on the wire. */
export function wireOf(known: Learned): Wire & SeenWire {
  const { stock, row, read, write, written, lock, answers, sale } = known;
  const isOf = (command: Command, kind: string | undefined) => kindOf(command) === kind && names(command, known);
  return {
    nodesTell: false,
    longestSaleMs: Math.min(PATIENCE_LIMIT_MS, HELD_OF_PATIENCE * known.patienceMs),
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
