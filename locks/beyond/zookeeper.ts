// Beyond · zookeeper
// Problem: a lock in one Redis is lost with that Redis, its waiters poll, and a paused holder writes late.
// Change:  a queue of numbered nodes that end with their session: the lowest holds, and its number is the fencing token.
// Leaves:  a crashed holder keeps the lock until its session ends; each sale costs three to eight more round trips.
// Source:  ZooKeeper Recipes and Solutions, Locks; Hunt, Konar, Junqueira, Reed, ZooKeeper, 2010.

import { randomUUID } from 'node:crypto';
import type { OpenSession } from '../drivers/zookeeper-session.ts';
import { type CreateLock, LockNotHeldError } from '../lock.ts';

/** What a node has in it: the request that it belongs to, and how many locks of that request hold by it. */
interface Data {
  owner: string;
  holds: number;
}

export const createLock: CreateLock = ({ zookeeper, key, ownerToken, onLeaseLost }) => {
  const queue = `/locks/${encodeURIComponent(key)}`;
  const heldOnce = JSON.stringify({ owner: ownerToken, holds: 1 } satisfies Data);
  const lost = new AbortController();
  let holdCount = 0;
  let held: { session: OpenSession; node: string } | undefined;
  let fencingToken: string | undefined;

  async function acquire(signal?: AbortSignal) {
    if (held === undefined) {
      const session = await zookeeper.enter();
      const own = randomUUID();
      await session.create(queue, own, heldOnce);
      const { name, czxid } = await untilOurs(session, own, signal).catch(async (error) => {
        await leave(session, own).catch(() => {});
        throw error;
      });
      held = { session, node: name };
      fencingToken = String(czxid);
      session.ended.addEventListener('abort', lose, { once: true });
    }
    holdCount += 1;
  }

  /** Resolves with the lowest node when it is ours: this lock's own, or that of another lock of the same request. */
  async function untilOurs(session: OpenSession, own: string, signal?: AbortSignal) {
    for (;;) {
      // Not the number at the end of a sequential node's name: it has 32 bits, and stands still when they are used up.
      const nodes = await session.list(queue);
      const place = nodes.findIndex(({ name }) => name === own);
      const [first, before] = [nodes[0], nodes[place - 1]];
      if (first === undefined || place === -1) throw new LockNotHeldError(key);
      session.ended.throwIfAborted();
      if (before === undefined) return first;
      if (await count(session, first.name, 1)) {
        await leave(session, own);
        return first;
      }
      // Only the one before us: a release wakes one waiter, not all of them.
      await session.untilGone(`${queue}/${before.name}`, signal);
    }
  }

  /** Counts one hold more or less in a node of our request; the last one removes it. Resolves with false when there is no such node. */
  async function count(session: OpenSession, node: string, change: 1 | -1): Promise<boolean> {
    const path = `${queue}/${node}`;
    for (;;) {
      const seen = await session.read(path);
      const { owner, holds }: Data = seen ? JSON.parse(seen.text) : {};
      if (seen === undefined || owner !== ownerToken) return false;
      const data = JSON.stringify({ owner, holds: holds + change });
      const isLast = holds + change === 0;
      // Another lock of our request may have changed it meanwhile: then its version is another one.
      if (await (isLast ? session.remove(path, seen.version) : session.write(path, data, seen.version))) return true;
    }
  }

  /** Mostly nobody else has held by the node, and its data is as it was made. */
  const leave = async (session: OpenSession, node: string) =>
    (await session.remove(`${queue}/${node}`, 0)) || count(session, node, -1);

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
    if (!(await leave(session, node))) throw new LockNotHeldError(key);
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
