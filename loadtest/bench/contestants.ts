// The contestants of the bench: built-in locks, published locks, and ceilings.

import { backendOf, replicasOf, type Strategy, strategies } from '../../locks/index.ts';
import type { CreateLock, TakeOne } from '../../locks/lock.ts';
import { loadPeer, peerNames, peers } from '../peers/peer.ts';
import { handoverCeiling, serialCeiling } from './ceilings.ts';

/** A built-in lock, a published lock, or a ceiling, which does the same work without a lock. */
export interface Contestant {
  name: string;
  kind: 'ours' | 'peer' | 'ceiling';
  /** How many processes the waiters are spread over. */
  processes: 1 | 2;
  /** Whether it asks several independent Redis servers for its lock. */
  needsMasters: boolean;
  /** Whether a replica must confirm what it writes: one is there for its turns alone. */
  needsReplica: boolean;
  /** The strategy whose sales write an order each. */
  ordersUnder?: string;
  /** How many nodes sell, where that was asked for. */
  nodes?: number;
  /** It is measured with this number of connections alone, where that was asked for. */
  waiters?: number;
  /** In how many buckets the stock lies, where that is not the usual number. */
  buckets?: number;
}

/** The stages that lose updates under two processes, as the course teaches. */
export const NOT_FOR_TWO = ['0-none', '1-in-process'];

/** Their locks are those of `8-auto-renew` and of `fenced`, and cost the same. */
const SAME_AS_ANOTHER = ['bounded', 'fenced-writes', 'multi'];
const measured = Object.keys(strategies).filter((name) => !SAME_AS_ANOTHER.includes(name));
const published = peerNames.map((name) => contestant(`peer:${name}`, 'peer'));

const ceilings: Record<string, CreateLock> = { 'serial-ceiling': serialCeiling, 'handover-ceiling': handoverCeiling };

/** All that `npm run bench` measures: what needs nothing but Redis. */
export const contestants: Contestant[] = [
  { ...contestant('serial-ceiling', 'ceiling'), processes: 1 },
  contestant('handover-ceiling', 'ceiling'),
  ...measured
    .filter((name) => ['redis', 'masters'].includes(backendOf(name)) && !NOT_FOR_TWO.includes(name))
    .map((name) => contestant(name, 'ours')),
  ...published,
];

/** `buckets` with other numbers of buckets, such as `buckets-16`: measured only when named. */
export const bucketCounts: Contestant[] = [1, 2, 8, 16].map((count) => ({
  ...contestant(`buckets-${count}`, 'ours'),
  buckets: count,
}));

/** `redis-atomic` in a service of only Express and ioredis: the baseline for the cost of the inventory service. */
export const BY_HAND = 'by-hand';

/** The contestants of `npm run bench -- --http`: everything that a node of the local stack can sell with. */
export const httpContestants: Contestant[] = [
  contestant('http-ceiling', 'ceiling'),
  contestant(BY_HAND, 'ceiling'),
  ...measured.map((name) => contestant(name, 'ours')),
  ...published,
];

/** What `npm run bench -- --orders` measures unless `--only` names others: a lock, the cheapest lock, and no lock in either store. */
export const ORDERS_UNDER = ['8-auto-renew', 'cohort', 'mysql-conditional', 'redis-atomic'];

/** The suffix of a contestant whose sales write an order each. */
export const WITH_ORDERS = '+orders';

/** Each contestant unchanged, and once more with an order for each sale. */
export function withOrders(chosen: Contestant[]): Contestant[] {
  return chosen.flatMap((plain) => [plain, { ...plain, name: `${plain.name}${WITH_ORDERS}`, ordersUnder: plain.name }]);
}

/** Each contestant with each of these numbers of nodes. */
export function onNodes(chosen: Contestant[], counts: number[]): Contestant[] {
  return chosen.flatMap((plain) => counts.map((nodes) => ({ ...plain, name: `${plain.name}×${nodes}`, nodes })));
}

/** The name without the number of nodes: `cohort` of `cohort×4`. */
export const nameOnAnyNodes = (name: string) => name.replace(/×\d+$/, '');

function contestant(name: string, kind: Contestant['kind']): Contestant {
  const needsMasters = kind === 'peer' ? peers[peerOf(name)]?.hasMasters : backendOf(name) === 'masters';
  return { name, kind, processes: 2, needsMasters: needsMasters ?? false, needsReplica: replicasOf(name) > 0 };
}

/** How a contestant sells: in its own way, or under a lock around the critical section. */
export type Way = { takeOne: TakeOne } | { createLock: CreateLock };

/** Loads a contestant, by its name. */
export async function loadWay(name: string): Promise<Way> {
  const ceiling = ceilings[name];
  if (ceiling !== undefined) return { createLock: ceiling };
  if (name.startsWith('peer:')) return { createLock: (await loadPeer(peerOf(name))).createLock };
  const strategy: Strategy | undefined = strategies[strategyOf(name)];
  if (strategy === undefined) throw new Error(`There is no strategy ${name}.`);
  return strategy;
}

/** False for a contestant that takes a unit in its own way. */
export function letsOneInAtATime(name: string): boolean {
  return !('takeOne' in (strategies[strategyOf(name)] ?? {}));
}

/** The strategy of a built-in contestant. */
export function strategyOf(name: string): string {
  return bucketCounts.some((contestant) => contestant.name === name) ? 'buckets' : name;
}

/** The package of a published lock: `redlock` is a strategy of ours, `peer:redlock` the library. */
export function peerOf(name: string): string {
  return name.replace('peer:', '');
}
