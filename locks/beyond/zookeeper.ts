// Beyond · zookeeper
// Problem: a lock in one Redis is lost with that Redis, its waiters poll, and a paused holder writes late.
// Change:  a queue of numbered nodes that end with their session: the lowest holds, and its number is the fencing token.
// Leaves:  a crashed holder keeps the lock until its session ends; each sale costs three to eight more round trips.
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

  /** Resolves with the number of our node when it is the lowest. */
  async function untilFirst(session: ZookeeperSession, node: string, signal?: AbortSignal) {
    for (;;) {
      // Not the number at the end of a sequential node's name: it has 32 bits, and stands still when they are used up.
      const nodes = await session.list(queue);
      const place = nodes.findIndex(({ path }) => path === node);
      const [own, before] = [nodes[place], nodes[place - 1]];
      if (own === undefined) throw new LockNotHeldError(key);
      session.ended.throwIfAborted();
      if (before === undefined) return String(own.czxid);
      // Only the one before us: a release wakes one waiter, not all of them.
      await session.untilGone(before.path, signal);
    }
  }

  /** The session has ended: ZooKeeper removes our node, if it has not done so already. */
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
