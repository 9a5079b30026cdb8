// The links of a node to Redis and to MySQL, as one: its lock may be in one, and its stock is in the other.

import type { Command, Held, ReplyLink } from '../../../stack/proxy/link.ts';

/** Connections to MySQL are numbered from here. */
const FIRST_OF_MYSQL = 1_000_000;

const ofMysql = (command: Command): Command => ({
  ...command,
  connection: FIRST_OF_MYSQL + (command.connection ?? 0),
});

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
      cancel: each((hold) => hold.cancel()),
    };
  }

  /** Ends both. */
  const join = (ends: (() => void)[]) => () => {
    for (const end of ends) end();
  };

  return {
    url: redis.url,
    get port() {
      return toLock().port;
    },
    counters: redis.counters,
    holdNext,
    holdNextReply: mysql.holdNextReply,
    leadsTo: redis.leadsTo,
    hasMetTls: redis.hasMetTls,
    watch: (see) => join([redis.watch(see), mysql.watch((command) => see(ofMysql(command)))]),
    watchReplies: (see) =>
      join([
        redis.watchReplies(see),
        mysql.watchReplies((exchange) => see({ ...exchange, command: ofMysql(exchange.command) })),
      ]),
    delayReplies: (ms) => toLock().delayReplies(ms),
    cut(how) {
      for (const link of how === 'silent' ? [toLock()] : both) link.cut(how);
    },
    restore() {
      for (const link of both) link.restore();
    },
    moveTo: redis.moveTo,
    async close() {
      for (const link of both) await link.close();
    },
  };
}
