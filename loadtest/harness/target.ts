// The target of drills: nodes behind a load balancer. Each world in `worlds/` provides one, and says what it can't do.

import { type Backend, replicasOf } from '../../locks/index.ts';
import type { History, Push, RedisState, ShownState } from '../../services/inventory/admin/contract.ts';
import type {
  GuardTiming,
  JobSchedule,
  JobState,
  ReportOrder,
  TickResult,
  TickScript,
} from '../../services/inventory/orders/contract.ts';
import type { LockTiming, SaleScript } from '../../services/inventory/sale/contract.ts';
import type { Tell } from '../../simulation/events.ts';
import type { Breakable } from '../../stack/own-parts.ts';
import type { PartError } from '../../stack/parts.ts';
import type { Node, Stack } from '../../stack/stack.ts';
import type { Results } from '../evidence/results.ts';
import type { Deed } from '../narration/faults.ts';
import { because, type Reason, reasoned } from '../narration/reasons.ts';
import { backendOfRow, rowOf } from '../staircase/lookup.ts';
import type { Clock } from './clock.ts';
import type { Network, ReplicaLine } from './network.ts';
import type { Wire } from './wire.ts';

/**
 * What a drill may need besides its nodes: to stop and kill them, a link before each, a Redis to stop, replicas of it, masters to
 * stop, a MySQL whose tables may be emptied, and the servers of a strategy. `lock servers`: those of the lock, wherever it is, to
 * kill. `lasting replica`: Redis has one that locks wait for.
 * `clock server`: a Redis whose wall clock can be set ahead. `node clocks`: those of the nodes can be made to run slower.
 * `permits`, `own lease` and `user lock` ask for a lock, not for a server: a semaphore, one that a sale can give a lease, and
 * one that can be for a user. From `business pause` on: what a sale must let a drill do.
 */
export type Need =
  | 'node processes'
  | 'links'
  | 'redis process'
  | 'replication'
  | 'lasting replica'
  | 'clock server'
  | 'node clocks'
  | 'master processes'
  | 'own mysql'
  | 'lock servers'
  | 'mysql processes'
  | 'zookeeper processes'
  | 'permits'
  | 'own lease'
  | 'user lock'
  | 'business pause'
  | 'nested calls'
  | 'computing sales'
  | 'failing sales'
  | 'read heap'
  | 'baskets'
  | 'looks'
  | Exclude<Backend, 'redis'>;

/** Called with each line of what a node records. `isFirst`: it begins anew, maybe as another process, and all that its history has is sent again. */
export type OnPush = (push: Push, isFirst: boolean) => void;

/** A node: its public listener and its admin API. Every call rejects with one sentence when the response is late or an error. */
export interface LabClient {
  /** The public listener, for sales that go past nginx. */
  publicUrl: string;
  /** The admin API. */
  labUrl: string;
  state(): Promise<ShownState>;
  /** True when it takes connections and leaves a question unanswered for so long: neither alive nor dead. */
  isSilentFor(limitMs: number): Promise<boolean>;
  setLock(version: string, timing?: LockTiming): Promise<void>;
  /** Says what the next sale does between read and write, or the next few. */
  script(script: SaleScript): Promise<void>;
  /** Resumes the sales and ticks that are held. */
  resume(): Promise<void>;
  /** Forgets counts and history. */
  reset(): Promise<void>;
  history(): Promise<History>;
  /** Calls `onPush` with what the node records, at once with all that it has so far, whatever becomes of its process. */
  follow(onPush: OnPush): { close(): void };
  redis(): Promise<RedisState>;
  /** The bytes in use after a forced collection. */
  heap(): Promise<number>;
  /** The stock as it is now, under no lock; undefined when there is none. */
  stock(sku?: string): Promise<number | undefined>;
  setStock(stock: number, sku?: string): Promise<void>;
  /** Deletes the stock, and the lock of the stage that is set. */
  clear(sku?: string): Promise<void>;
  /** Changes the guard of the clean-up. */
  setGuard(lock: string, timing?: GuardTiming): Promise<void>;
  /** Says where the next tick of the clean-up is held until resumed. */
  scriptTick(script: TickScript): Promise<void>;
  /** Runs one tick of the clean-up, however long it takes. */
  tick(): Promise<TickResult>;
  /** The ticks of this node: how many are under way, how many of them are held, and the latest that have come by themselves. */
  ticks(): Promise<JobState>;
  /** Says when ticks of the clean-up come by themselves; never, when it is empty. */
  setSchedule(schedule: JobSchedule): Promise<void>;
  /** Runs the second job. Resolves when it is done. */
  report(order: ReportOrder): Promise<void>;
}

/** A node has not answered in time. */
export class LateAnswerError extends Error {}

/** Resolves with whether a question to a node is left unanswered. */
export const isLate = (answer: Promise<unknown>): Promise<boolean> =>
  answer.then(() => false).catch((error) => error instanceof LateAnswerError);

export interface TargetNode extends LabClient {
  name: string;
  /** Where a load for this node alone is sent, when that is not its public listener. */
  loadUrl?: string;
  /** The node's process, when it is ours to stop and to kill. */
  process?: Pick<Node, 'signal' | 'kill' | 'start'>;
  /** Has the clock of its process run so many times as fast as that of its machine. Only in the simulation. */
  runClock?(rate: number): () => number;
  /** What the node reaches Redis through. */
  link?: Node['link'];
  /** What it reaches each of the masters through, in their order. */
  masterLinks?: Node['masterLinks'];
  /** What it reaches MySQL and ZooKeeper through. */
  backendLinks?: Node['backendLinks'];
}

/** Nodes behind a load balancer, for the drills to aim at. */
export interface Target {
  /** What is waited for and measured on it goes by this clock. */
  clock: Clock;
  /** What reaches its servers. */
  network: Network;
  /** How what is sold shows there. */
  wire: Wire;
  /** How long the leases of its lock are, in milliseconds, whatever a page asks for. Absent where a drill sets it. */
  leaseMs?: number;
  /** The load balancer. */
  url: string;
  /** All that sell, two at least: a drill that goes step by step breaks the first two. */
  nodes: TargetNode[];
  redis: Results['environment']['redis'];
  /** Why its Redis can't carry some locks, by their names: a sentence for each. */
  redisLacks: Record<string, string>;
  nginx: string;
  /** The versions of the servers beyond Redis, where a strategy of the run needs them. */
  backends: Results['environment']['backends'];
  /** The stack, when it is ours to break. */
  stack?: Pick<
    Stack,
    'redis' | 'redisSet' | 'redisProcess' | 'startReplica' | 'startClockServer' | 'masters' | 'nginx'
  > & { replica?: { url: string; line?: ReplicaLine } | undefined };
  /** The processes of MySQL and ZooKeeper, when they are of this stack alone. */
  lockServers?: Partial<Record<Backend, Breakable[]>>;
  /** Where its nodes keep the orders, when there are any. */
  mysqlUrl?: string;
  /** Why a drill that needs something can't be carried here: a sentence for each thing that is lacking. */
  lacks: Partial<Record<Need, string | Reason>>;
  /** Is told what the drill does on purpose, in the simulation. */
  tell?: Tell<Deed>;
  /** Resolves when a part of the stack dies that no drill killed. */
  partDied: Promise<PartError>;
  /** Leaves the target as it was found. */
  close(): Promise<void>;
}

const KILLED: Need = 'lock servers';
const processesOf: Partial<Record<Backend, Need[]>> = {
  masters: ['master processes'],
  mysql: ['mysql processes'],
  zookeeper: ['zookeeper processes'],
};

/** Why the target lacks this, in English. */
export function lackIn({ lacks }: Pick<Target, 'lacks'>, need: Need): string | undefined {
  const lack = lacks[need];
  return typeof lack === 'object' ? reasoned(lack) : lack;
}

/** Why the target can't carry a drill under this stage: a sentence, or undefined when it can. */
export function lackOf({ lacks, redisLacks }: Target, stage: string, needs: Need[] = []): Reason | undefined {
  if (redisLacks[stage] !== undefined) return because('text', { text: redisLacks[stage] });
  const backends = rowOf(stage)?.backends ?? ['redis'];
  const servers = backends.filter((backend) => backend !== 'redis');
  const killed = needs.includes(KILLED) ? (processesOf[backendOfRow(stage)] ?? []) : [];
  const replica: Need[] = replicasOf(stage) > 0 ? ['lasting replica'] : [];
  const [lack] = [...needs, ...servers, ...killed, ...replica].flatMap((need) => lacks[need] ?? []);
  return typeof lack === 'string' ? because('text', { text: lack }) : lack;
}
