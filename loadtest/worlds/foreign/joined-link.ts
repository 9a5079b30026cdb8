// Joins the fault proxies of a node to Redis and to MySQL into one: the lock may be in one, and the stock in the other.

import type { Held, ReplyLink } from '../../../stack/proxy/link.ts';

/**
 * Commands are seen and held on both; a reply is held on the link to MySQL, where the stock is read. A node that is cut off silently loses
 * the server of its lock alone, as the lock's `isInRedis` says; after a reset it has neither.
 */
export function joinLinks(redis: ReplyLink, mysql: ReplyLink, lock: { isInRedis: boolean }): ReplyLink {
  const both = [redis, mysql];
  const toLock = () => (lock.isInRedis ? redis : mysql);

  function holdNext(meant: Parameters<ReplyLink['holdNext']>[0]): Held {
    const holds = both.map((link) => link.holdNext(meant));
    const each = (act: (hold: Held) => void) => () => holds.forEach(act);
    const arrived = Promise.any(holds.map((hold) => hold.arrived));
    // It has come on one: a hold that has come can't be cancelled.
    arrived.then(
      each((hold) => hold.cancel()),
      () => {},
    );
    return {
      arrived,
      letGo: async () => (await Promise.all(holds.map((hold) => hold.letGo()))).includes(true),
      drop: each((hold) => hold.drop()),
      isGone: () => holds.some((hold) => hold.isGone()),
      cancel: each((hold) => hold.cancel()),
    };
  }

  /** Begins on both. Returns what ends that on both. */
  function onBoth(begin: (link: ReplyLink) => () => void) {
    const ends = both.map(begin);
    return () => ends.forEach((end) => void end());
  }

  return {
    ...redis,
    get port() {
      return toLock().port;
    },
    holdNext,
    holdNextReply: mysql.holdNextReply,
    watch: (see) => onBoth((link) => link.watch(see)),
    watchReplies: (see) => onBoth((link) => link.watchReplies(see)),
    delayReplies: (ms) => toLock().delayReplies(ms),
    cut(how) {
      for (const link of how === 'silent' ? [toLock()] : both) link.cut(how);
    },
    restore() {
      for (const link of both) link.restore();
    },
    async close() {
      for (const link of both) await link.close();
    },
  };
}
