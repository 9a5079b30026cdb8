// A replica that is cut off from its primary, and is promoted.

import type { RedisClient } from '../../../locks/lock.ts';
import { REPLICATION_USER, type SetServer } from '../../../stack/redis-set.ts';
import { NotStagedError } from '../../evidence/not-staged.ts';
import { readLease } from '../lease-watch.ts';
import type { Connections } from './connections.ts';
import { type Ground, ours } from './ground.ts';

/** How long a replica may take to copy its primary, in milliseconds. */
const COPY_LIMIT_MS = 2_000;
/** How long the servers may take to elect a replica, in milliseconds. */
const ELECTION_LIMIT_MS = 20_000;

interface Replica {
  url: string;
  /** Keeps from it what is written to its primary from here on. */
  cut(primary: RedisClient): Promise<void>;
  /** Makes it a primary. */
  promote(replica: RedisClient): Promise<unknown>;
  /** Resolves when both nodes reach it. */
  untilReached(): Promise<void>;
  /** The other servers elect it. */
  isElected?: true;
}

export function breakReplicas(ground: Ground, { leadTo, untilFound }: Connections) {
  const { stack, wire, lockKey, network, connectForNow, until, undoLater } = ground;
  /** A key that a drill writes when it has cut the line of a replica. */
  const cutMark = `${wire.stockKey}:after-the-cut`;
  /** The replica that the stack has is one that this drill breaks. */
  let isLastingTaken = false;

  /** The lock as this server holds it now. Undefined when it holds none. */
  async function lockAt(server: RedisClient) {
    const owner = (await readLease(server, lockKey, wire.stockKey))?.owner;
    return owner === undefined ? undefined : { key: lockKey, owner };
  }

  /**
   * A Redis that copies the first, over a line that can be cut: the replica that the stack has, over whose line the locks are confirmed,
   * and after that another one each time. Of a Redis that fails over by itself it is the one that the other servers will elect.
   */
  async function startReplica() {
    const { redis: primary, redisSet } = ours(stack, 'Redis is not a process of this run.');
    const { url, cut, promote, untilReached, isElected } = redisSet?.replica
      ? replicaOfSet(redisSet.replica)
      : await replicaOverLine();
    const [redis, client] = [connectForNow(primary.url), connectForNow(url)];

    return {
      lockOfPrimary: () => lockAt(redis),
      knows: async ({ owner }: { owner: string }) => (await lockAt(client))?.owner === owner,
      /** From here on nothing that is written to the first Redis reaches this one. */
      async cutLine() {
        await cut(redis);
        // It must not hear of this, whatever the sales write.
        await redis.set(cutMark, 'written after the cut');
      },
      /** Resolves when it has heard of all that was written since the line of another replica was cut. */
      async hearsAll() {
        const isSame = async () =>
          (await client.exists(cutMark)) === 1 &&
          (await client.get(wire.stockKey)) === (await redis.get(wire.stockKey));
        await until(isSame, 'The replica that was not cut off did not receive the sale.');
      },
      /**
       * Makes it the Redis that both nodes reach from here on. Resolves with its address when the other servers have elected it. Throws
       * NotStagedError when it knows what it must not know.
       */
      async promote(): Promise<string | undefined> {
        await promote(client);
        if (await client.exists(cutMark)) throw new NotStagedError('The replica received a write from after the cut.');
        await untilReached();
        return isElected && new URL(url).host;
      },
    };
  }

  const hasCopied = (replicaUrl: string) => network.untilCopied({ primaryUrl: stack?.redis.url ?? '', replicaUrl });

  async function replicaOverLine(): Promise<Replica> {
    const replica = stack?.replica;
    const lasting = !isLastingTaken && replica?.line && { url: replica.url, line: replica.line };
    const { url, line } = lasting || (await startAnother());
    if (lasting) {
      isLastingTaken = true;
      const client = connectForNow(url);
      undoLater(async () => {
        isLastingTaken = false;
        line.restore();
        // One that was promoted copies again, and has nothing of its own any more.
        await client.call('REPLICAOF', '127.0.0.1', line.port);
        await hasCopied(url);
      });
    }
    await hasCopied(url).catch((error: Error) => {
      throw new NotStagedError(error.message);
    });
    return {
      url,
      async cut(redis) {
        line.cut('silent');
        undoLater(() => redis.del(cutMark));
      },
      promote: (replica) => replica.call('REPLICAOF', 'NO', 'ONE'),
      untilReached: () => leadTo(url),
    };
  }

  /** The other servers promote it, and the nodes find it. */
  function replicaOfSet({ url }: SetServer): Replica {
    return {
      url,
      /** It copies as a user of its own. Without that user its connection ends, and it can't come back. */
      async cut(redis) {
        await redis.set(cutMark, 'written before the cut');
        await redis.del(cutMark);
        if (Number(await redis.call('WAIT', 1, COPY_LIMIT_MS)) === 0)
          throw new NotStagedError('The replica did not get in sync with Redis.');
        await redis.call('ACL', 'SETUSER', REPLICATION_USER, 'off');
        await redis.call('CLIENT', 'KILL', 'USER', REPLICATION_USER);
      },
      promote: (replica) =>
        until(
          async () => /role:master/.test(await replica.info('replication')),
          'No replica was elected in time.',
          ELECTION_LIMIT_MS,
        ),
      untilReached: () => untilFound(url),
      isElected: true,
    };
  }

  async function startAnother() {
    const start = ours(stack?.startReplica, 'This Redis does not support replication.');
    const line = await network.openLine(stack?.redis.url ?? '');
    undoLater(() => line.close());
    const { url, stop } = await start(line.url);
    undoLater(stop);
    return { url, line };
  }

  return { startReplica };
}
