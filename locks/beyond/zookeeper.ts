// Beyond · zookeeper
// Problem: a lock in one Redis is lost with that Redis, its waiters poll, and a paused holder writes late.
// Change:  a queue of numbered nodes that end with their session: the lowest holds, and its number is the fencing token.
// Leaves:  a crashed holder keeps the lock until its session ends; each sale costs three to five more round trips.
// Source:  ZooKeeper Recipes and Solutions, Locks; Hunt, Konar, Junqueira, Reed, ZooKeeper, 2010.

import type { OpenSession } from '../drivers/zookeeper-session.ts';
import { type CreateLock, LockNotHeldError } from '../lock.ts';

export const createLock: CreateLock = ({ zookeeper, key, ownerToken, onLeaseLost }) => {
  const queue = `/locks/${encodeURIComponent(key)}`;
  const lost = new AbortController();
  let holdCount = 0;
  let held: { session: OpenSession; node: string } | undefined;
  let fencingToken: number | undefined;

  async function acquire(signal?: AbortSignal) {
    if (held === undefined) {
      const session = await zookeeper.enter();
      const node = await session.createNext(queue, `${encodeURIComponent(ownerToken)}-`);
      await untilFirst(session, node, signal).catch(async (error) => {
        await session.remove(`${queue}/${node}`).catch(() => {});
        throw error;
      });
      held = { session, node };
      // The number is counted by the queue and outlives its nodes, so it never goes back. Nobody may delete the queue.
      fencingToken = numberOf(node);
      session.ended.addEventListener('abort', lose, { once: true });
    }
    holdCount += 1;
  }

  async function untilFirst(session: OpenSession, node: string, signal?: AbortSignal) {
    for (;;) {
      const nodes = (await session.list(queue)).toSorted((a, b) => numberOf(a) - numberOf(b));
      const place = nodes.indexOf(node);
      if (place === -1) throw new LockNotHeldError(key);
      if (place === 0) return session.ended.throwIfAborted();
      // Only the one before us: a release wakes one waiter, not all of them.
      await session.untilGone(`${queue}/${nodes[place - 1]}`, signal);
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
    if (!(await session.remove(`${queue}/${node}`))) throw new LockNotHeldError(key);
  }

  return {
    acquire,
    release,
    lost: lost.signal,
    get fencingToken() {
      return fencingToken;
    },
  };
};

/** ZooKeeper numbers the nodes of a queue from 0, in ten digits at the end of the name. */
const numberOf = (node: string) => Number(node.slice(-10));
