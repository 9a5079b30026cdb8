// Beyond · zookeeper
// Problem: a lock in one Redis is lost with that Redis, its waiters poll, and a paused holder writes late.
// Change:  a queue of numbered ephemeral znodes: the lowest holds the lock, and its number is the fencing token.
// Leaves:  a crashed holder keeps the lock until its session expires; each sale costs three to eight more round trips.
// Source:  ZooKeeper Recipes and Solutions, Locks; Hunt, Konar, Junqueira, Reed, ZooKeeper, 2010.

import { randomUUID } from 'node:crypto';
import { sharedInRequest } from '../drivers/same-request.ts';
import { LockNotHeldError, type ZookeeperSession } from '../lock.ts';

export const createLock = sharedInRequest(({ zookeeper, key, ownerToken, onLeaseLost }) => {
  const queue = `/locks/${encodeURIComponent(key)}`;
  const lost = new AbortController();
  let holdCount = 0;
  let held: { session: ZookeeperSession; node: string } | undefined;
  let fencingToken: string | undefined;

  async function acquire(signal?: AbortSignal) {
    if (held === undefined) {
      const session = await zookeeper.enter();
      const node = `${queue}/${randomUUID()}`;
      await session.create(node, ownerToken);
      fencingToken = await untilFirst(session, node, signal).catch(async (error) => {
        await session.remove(node).catch(() => {});
        throw error;
      });
      held = { session, node };
      session.ended.addEventListener('abort', lose, { once: true });
    }
    holdCount += 1;
  }

  /** Resolves with the number of our znode once it is the lowest. */
  async function untilFirst(session: ZookeeperSession, node: string, signal?: AbortSignal) {
    for (;;) {
      // Not the number at the end of a sequential znode's name: it has 32 bits and overflows.
      const nodes = await session.list(queue);
      const place = nodes.findIndex(({ path }) => path === node);
      const [own, before] = [nodes[place], nodes[place - 1]];
      if (own === undefined) throw new LockNotHeldError(key);
      session.ended.throwIfAborted();
      if (before === undefined) return String(own.czxid);
      // Watch only the znode before ours: a release then wakes one waiter, not all of them.
      await session.untilGone(before.path, signal);
    }
  }

  /** The session has expired: ZooKeeper deletes our znode, if it has not done so already. */
  function lose() {
    held = undefined;
    holdCount = 0;
    onLeaseLost();
    lost.abort(new LockNotHeldError(key));
  }

  async function release() {
    if (held === undefined) throw new LockNotHeldError(key);
    holdCount -= 1;
    if (holdCount > 0) return;
    const { session, node } = held;
    held = undefined;
    session.ended.removeEventListener('abort', lose);
    if (!(await session.remove(node))) throw new LockNotHeldError(key);
  }

  return {
    acquire,
    release,
    lost: lost.signal,
    get fencingToken() {
      return fencingToken;
    },
  };
});
