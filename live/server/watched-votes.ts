// Whose lock it is where masters vote: asked of the masters themselves, again and again.

import { setTimeout as sleep } from 'node:timers/promises';
import { readLease } from '../../loadtest/harness/lease-watch.ts';
import { connectRedis } from '../../services/inventory/redis-client.ts';

/** How often they are asked, in milliseconds. */
const LOOK_MS = 100;
/** How long a master may leave a question unanswered, in milliseconds. */
const ANSWER_LIMIT_MS = 200;

/** What most masters say. */
export interface Votes {
  /** The owner token. */
  owner: string;
  /** How long the votes of most masters last, in milliseconds. */
  ttlMs: number;
}

export interface WatchedVotes {
  /** Undefined when no owner has the votes of most. */
  read(): Votes | undefined;
  close(): void;
}

/** Asks these masters for the votes under a key, until it is closed. Calls `onChange` when another one has most of them. */
export function watchVotes(urls: string[], key: string, onChange: () => void): WatchedVotes {
  const clients = urls.map((url) => {
    const client = connectRedis(url, {
      commandTimeout: ANSWER_LIMIT_MS,
      maxRetriesPerRequest: 0,
      enableOfflineQueue: false,
      retryStrategy: () => LOOK_MS,
    });
    return client.on('error', () => {});
  });
  let seen: Votes | undefined;
  let isClosed = false;

  async function watch() {
    while (!isClosed) {
      const votes = await Promise.all(clients.map((client) => readLease(client, key)));
      const before = seen;
      seen = mostOf(votes.map((vote) => vote ?? {}));
      if (seen?.owner !== before?.owner) onChange();
      await sleep(LOOK_MS);
    }
    for (const client of clients) client.disconnect();
  }

  void watch();
  return {
    read: () => seen,
    close() {
      isClosed = true;
    },
  };
}

/** What more than half of the masters say. A master that is silent, or has no vote, is against all. */
export function mostOf(votes: Partial<Votes>[]): Votes | undefined {
  const most = Math.floor(votes.length / 2);
  for (const { owner } of votes) {
    if (owner === undefined) continue;
    const ttls = votes.filter((vote) => vote.owner === owner).map(({ ttlMs = 0 }) => ttlMs);
    const ttlMs = ttls.sort((a, b) => b - a)[most];
    if (ttlMs !== undefined) return { owner, ttlMs };
  }
  return undefined;
}
