// A replica that is cut off from what it copies, and takes its place.

import { stockKey } from '../../../services/inventory/servers/store.ts';
import { NotStagedError } from '../../evidence/not-staged.ts';
import type { Connections } from './connections.ts';
import { type Ground, ours } from './ground.ts';

const stock = stockKey('001');
/** A key that a drill writes when it has cut the line of a replica. */
const cutMark = `${stock}:after-the-cut`;

export function breakReplicas(ground: Ground, { leadTo }: Connections) {
  const { stack, network, connectForNow, until, undoLater } = ground;
  /** The replica that the stack has is one that this drill breaks. */
  let isLastingTaken = false;

  /**
   * A Redis that copies the first, over a line that can be cut: the replica that the stack has, over whose line the locks are confirmed,
   * and after that another one each time.
   */
  async function startReplica() {
    const { redis: primary, replica } = ours(stack, 'Redis is not a process of this run.');
    const lasting = !isLastingTaken && replica?.line && { url: replica.url, line: replica.line };
    const { url, line } = lasting || (await startAnother());
    const client = connectForNow(url);
    const hasCopied = () => network.untilCopied({ primaryUrl: primary.url, replicaUrl: url });
    if (lasting) {
      isLastingTaken = true;
      undoLater(async () => {
        isLastingTaken = false;
        line.restore();
        // One that was promoted copies again, and has nothing of its own any more.
        await client.call('REPLICAOF', '127.0.0.1', line.port);
        await hasCopied();
      });
    }
    await hasCopied().catch((error: Error) => {
      throw new NotStagedError(error.message);
    });
    const redis = connectForNow(primary.url);

    return {
      /** From here on nothing that is written to the first Redis reaches this one. */
      async cutLine() {
        line.cut('silent');
        // It must not hear of this, whatever the sales write.
        undoLater(() => redis.del(cutMark));
        await redis.set(cutMark, 'written after the cut');
      },
      /** Resolves when it has heard of all that was written since the line of another replica was cut. */
      async hearsAll() {
        const isSame = async () =>
          (await client.exists(cutMark)) === 1 && (await client.get(stock)) === (await redis.get(stock));
        await until(isSame, 'The replica that was not cut off has not heard of the sale.');
      },
      /** Makes it the Redis that both nodes reach from here on. Throws NotStagedError when it knows what it must not know. */
      async promote() {
        await client.call('REPLICAOF', 'NO', 'ONE');
        if (await client.exists(cutMark)) throw new NotStagedError('The replica has heard of what came after the cut.');
        await leadTo(url);
      },
    };
  }

  async function startAnother() {
    const start = ours(stack?.startReplica, 'This Redis knows no replication.');
    const line = await network.openLink(stack?.redis.url ?? '');
    undoLater(() => line.close());
    const { url, stop } = await start(line.url);
    undoLater(stop);
    return { url, line };
  }

  return { startReplica };
}
