// Faults of masters: they are paused, or lose their votes. And what a lock's servers hold for it.

import type { RedisClient } from '../../../locks/lock.ts';
import { NotStagedError } from '../../evidence/not-staged.ts';
import { readLease } from '../lease-watch.ts';
import type { TargetNode } from '../target.ts';
import { greetingsOf, linksToMasters } from './connections.ts';
import type { Ground } from './ground.ts';
import type { Processes } from './processes.ts';

/** How long a server may take to reply to the harness before it counts as silent, in milliseconds. */
const ANSWER_LIMIT_MS = 200;

export type Masters = ReturnType<typeof breakMasters>;

export function breakMasters(ground: Ground, { stopMaster, killMaster }: Processes) {
  const { nodes, wire, backend, lockKey, lockKeysIn, masters, stack } = ground;
  const { network, connect, connectForNow, until, undoLater } = ground;
  const voters = masters.map(({ url }) => connect(url, { commandTimeout: ANSWER_LIMIT_MS, maxRetriesPerRequest: 0 }));

  /** An external lock may have a key of another name, which has that of the lock in it. Further ones are longer, and come after it. */
  async function keysOf(client: RedisClient): Promise<string[]> {
    const found = await lockKeysIn(client).catch((): string[] => []);
    return found.length > 0 ? found.toSorted((a, b) => a.length - b.length) : [lockKey];
  }

  /** Who has the vote of a master, as it says itself: an owner token, `nobody`, or `silent`. */
  async function voteAt(master: number): Promise<string> {
    const client = voters[master] as RedisClient;
    const [key = lockKey] = await keysOf(client);
    const lease = await readLease(client, key, wire.stockKey);
    return lease === undefined ? 'silent' : (lease.owner ?? 'nobody');
  }

  /**
   * Ends the lease of whoever has the lock, as if its time were over: its keys end now. Resolves with `endless` where they have no end, and
   * with `free` where there is none.
   */
  async function endLease(): Promise<'ended' | 'endless' | 'free'> {
    const servers = backend === 'masters' ? voters : stack ? [connectForNow(stack.redis.url)] : [];
    let [hasEnded, isEndless] = [false, false];
    for (const server of servers) {
      const keys = await lockKeysIn(server);
      for (const key of keys) {
        // Named after the key of the lock, such as that of its tokens: it may stay for ever.
        const isFurther = [lockKey, ...keys].some((other) => other !== key && key.startsWith(other));
        if ((await server.pttl(key)) === -1) isEndless ||= !isFurther;
        else if ((await server.pexpire(key, 1)) === 1) hasEnded = true;
      }
    }
    if (isEndless) return 'endless';
    return hasEnded ? 'ended' : 'free';
  }

  /** Stops a master where it stands. */
  async function freezeMaster(master: number) {
    stopMaster(master);
    if ((await voteAt(master)) !== 'silent')
      throw new NotStagedError(`Master ${master + 1} still responds after SIGSTOP.`);
  }

  /** Kills a master and starts it again: it has forgotten every vote. Resolves with what tells whether a node has reached it since. */
  async function forgetMaster(master: number) {
    const name = `Master ${master + 1}`;
    if (['nobody', 'silent'].includes(await voteAt(master))) throw new NotStagedError(`${name} had no vote to lose.`);
    const greetings = new Map(nodes.map((node) => [node, linksToMasters(node, [master]).map(greetingsOf)]));
    await (await killMaster(master)).comeBack();
    await until(async () => (await voteAt(master)) !== 'silent', `${name} did not come back.`);
    if ((await voteAt(master)) !== 'nobody') throw new NotStagedError(`${name} has lost nothing.`);

    return async function isReached(node: TargetNode): Promise<boolean> {
      const [link] = linksToMasters(node, [master]);
      if (!link?.counters.open || greetingsOf(link) <= (greetings.get(node)?.[0] ?? 0)) return false;
      // Its answer has been read by the time the node answers.
      await node.state();
      return true;
    };
  }

  return {
    freezeMaster,
    forgetMaster,
    votes: () => Promise.all(voters.map((_, master) => voteAt(master))),
    endLease,
    /** Until all is undone another server has the vote of this master. */
    replaceVoter(master: number, client: RedisClient) {
      const own = voters[master] as RedisClient;
      undoLater(() => {
        voters[master] = own;
      });
      voters[master] = client;
    },
    /** Loads the project's scripts into each server. */
    async prepare() {
      for (const url of [stack?.redis.url, ...masters.map(({ url }) => url)]) if (url) await network.loadScripts(url);
    },
    /** Takes every vote of the masters away. */
    async clearVotes() {
      for (const voter of voters) await voter.del(...(await keysOf(voter)));
      return true;
    },
    close() {
      for (const voter of voters) voter.disconnect();
    },
  };
}
