// What the nodes send for their lock, as seen on their connections, and what the lock's servers hold.

import { hasLock } from '../../locks/index.ts';
import { backendOfRow, isExternal } from '../staircase/lookup.ts';
import { readLeftKeys } from './lease-watch.ts';
import type { Target, TargetNode } from './target.ts';

/**
 * A server other than Redis can't be asked how far it has come: a request takes a small part of this time, in milliseconds. It is a tenth of
 * a lease at most, since a page may wait so more than once in one.
 */
const OTHER_SERVER_MS = 100;

export interface LockOptions {
  target: Target;
  stage: string;
  leaseMs: number;
  /** Called when a node has tried to get the lock. */
  onTry(): void;
  /** Who has each vote of the masters. */
  votes(): Promise<string[]>;
  /** Which node an owner token is of. */
  ownerOf(token: string): { node: string } | undefined;
}

/** Follows the commands of the lock until it is closed. */
export function seeLock({ target, stage, leaseMs, onTry, votes, ownerOf }: LockOptions) {
  const { nodes, stack, clock, wire } = target;
  const backend = backendOfRow(stage);
  /** How often each node has tried to get the lock: each command that names its key, on the line to where it is, and is no release. */
  const tries = new Map<TargetNode, number>();
  const unwatch = nodes.map((node) =>
    (backend === 'masters' ? node.masterLinks?.[0] : node.link)?.watch((command) => {
      if (wire.isRelease(command) || !wire.isOfLock(command)) return;
      tries.set(node, (tries.get(node) ?? 0) + 1);
      onTry();
    }),
  );

  return {
    triesOf: (node: TargetNode) => tries.get(node) ?? 0,
    /** What a node asks of its lock passes a line that can be read. */
    isSeen: hasLock(stage) && (backend === 'redis' || backend === 'masters'),
    /**
     * Resolves when what a sale that waits on this node has asked of its lock has come there: where it stands in a queue, if there
     * is one, is settled.
     */
    async hasAsked(node: TargetNode) {
      // Over the same connection, on which Redis answers in order.
      await node.redis();
      if (backend !== 'redis') await clock.sleep(Math.min(OTHER_SERVER_MS, leaseMs / 10));
    },
    masterCount: backend === 'masters' ? (stack?.masters.length ?? 0) : 0,
    /**
     * How many masters have voted for a sale of this node, as they say themselves. What an external lock keeps there names no node: every
     * vote counts, so that no other node may ask meanwhile.
     */
    async votesFor(node: TargetNode): Promise<number> {
      const given = (await votes()).filter((token) => token !== 'nobody' && token !== 'silent');
      return given.filter((token) => isExternal(stage) || ownerOf(token)?.node === node.name).length;
    },
    /** The keys that are in Redis besides the stock. None where Redis is not of this run. */
    keysLeft: async () => (stack ? readLeftKeys(target, stack.redis.url) : []),
    close() {
      for (const end of unwatch) end?.();
    },
  };
}
