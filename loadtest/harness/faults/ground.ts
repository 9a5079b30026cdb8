// Shared by all faults: the parts of a stack, the undoing of faults, and extra connections.

import type { Backend } from '../../../locks/index.ts';
import type { RedisClient } from '../../../locks/lock.ts';
import { NotStagedError } from '../../evidence/not-staged.ts';
import { poll } from '../clock.ts';
import type { Target, TargetNode } from '../target.ts';

/** How long a fault may take to take effect, in milliseconds. */
export const STAGE_LIMIT_MS = 5_000;
const LOOK_MS = 10;

export interface FaultsOptions {
  /** The stage, and where its lock is. */
  stage: string;
  backend: Backend;
  /** Called when the nodes are led to another Redis. */
  onMove?: (redisUrl: string) => void;
  /** Resolves when all is known that a node has recorded: it is killed next. */
  beforeKill?: (node: TargetNode) => Promise<unknown>;
}

/** The parts of a target that faults break. */
export type BrokenTarget = Pick<Target, 'nodes' | 'stack' | 'lockServers' | 'clock' | 'network' | 'wire'>;

export type Ground = ReturnType<typeof createGround>;

export function createGround(
  { nodes, stack, lockServers, clock, network, wire }: BrokenTarget,
  { backend, stage }: Pick<FaultsOptions, 'backend' | 'stage'>,
) {
  const undos: (() => unknown)[] = [];
  const masters = backend === 'masters' ? (stack?.masters ?? []) : [];

  /** A connection for what the drill itself reads and writes, until it is closed. */
  function connect(url: string, options = {}): RedisClient {
    const client = network.connectRedis(url, { ...options, retryStrategy: () => LOOK_MS });
    client.on('error', () => {});
    return client;
  }

  return {
    nodes,
    stack,
    clock,
    network,
    backend,
    wire,
    lockKey: wire.lockKey(stage),
    lockKeysIn: (redis: RedisClient) => wire.lockKeysIn(redis, stage),
    masters,
    /** The processes of the servers that keep the lock: of masters that vote, of MySQL, or of ZooKeeper. */
    lockServers: backend === 'masters' ? masters.map(({ process }) => process) : (lockServers?.[backend] ?? []),
    connect,
    /** A connection that is there until all is undone. */
    connectForNow(url: string): RedisClient {
      const client = connect(url);
      undos.push(() => client.disconnect());
      return client;
    },
    /** What no event tells is asked for again and again. Throws NotStagedError, with the sentence, when it does not come. */
    async until(isSo: () => Promise<boolean>, otherwise: string, limitMs = STAGE_LIMIT_MS) {
      const found = await poll(clock, limitMs, async () => (await isSo()) || undefined);
      if (!found) throw new NotStagedError(otherwise);
    },
    /** Undoes it with the rest. */
    undoLater(undo: () => unknown) {
      undos.push(undo);
    },
    /** Brings back all that was broken, the last first. Rejects when something could not be, after trying the rest. */
    undoAll: () => doEach(undos.splice(0).reverse()),
  };
}

/** Does one after the other. Rejects as the first did that failed, after trying the rest. */
export async function doEach(acts: (() => unknown)[]) {
  const errors: unknown[] = [];
  for (const act of acts) {
    try {
      await act();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}

/** What the run has of its own to break. Throws NotStagedError, with the sentence, when it has not. */
export function ours<Part>(part: Part | undefined, otherwise: string): Part {
  if (part === undefined) throw new NotStagedError(otherwise);
  return part;
}

export const isThere = (answer: Promise<unknown>) => answer.then(() => true).catch(() => false);
