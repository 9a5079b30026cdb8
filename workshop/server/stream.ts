// The server-sent events for followers: an object with the changed parts, each complete.

import type { ServerResponse } from 'node:http';

/** The longest time between two messages, in milliseconds, so that either side notices when the other is gone. */
const BEAT_MS = 10_000;
/** How long a follower may take to read a message before its connection is closed, in milliseconds. */
const READ_LIMIT_MS = 20_000;

interface Follower {
  response: ServerResponse;
  /** The parts already sent to it, as JSON. */
  has: Map<string, string>;
  /** Since when it has unread data, by this process's clock. */
  fullSince?: number;
}

/** Parts by name, as JSON. */
type Parts = [name: string, json: string][];
const inJson = (parts: object): Parts => Object.entries(parts).map(([name, value]) => [name, JSON.stringify(value)]);

export interface StreamOptions {
  /** The parts by name. Called before sending. */
  read: () => object;
  /** The shortest interval between two messages, in milliseconds. */
  everyMs: number;
  mostFollowers: number;
}

export type Stream = ReturnType<typeof createStream>;

/** The followers of a state. Unread updates are not queued: a slow follower gets the latest state once it can be written to. */
export function createStream({ read, everyMs, mostFollowers }: StreamOptions) {
  const followers = new Set<Follower>();
  let timer: NodeJS.Timeout | undefined;
  /** All current parts, computed once for all followers. */
  let latest: Parts | undefined;
  const now = () => (latest ??= inJson(read()));
  const beat = setInterval(lookAfter, BEAT_MS).unref();

  function lookAfter() {
    const now = performance.now();
    for (const { response, fullSince } of followers) {
      if (fullSince === undefined) response.write(':\n\n');
      else if (now - fullSince > READ_LIMIT_MS) response.destroy();
    }
  }

  function send(ready: Iterable<Follower>, parts: Parts) {
    for (const follower of ready) {
      const { response, has } = follower;
      const changed = parts.filter(([name, json]) => has.get(name) !== json);
      if (changed.length === 0) continue;
      for (const [name, json] of changed) has.set(name, json);
      const isTaken = response.write(`data: {${changed.map(([name, json]) => `"${name}":${json}`).join()}}\n\n`);
      if (isTaken) continue;
      follower.fullSince = performance.now();
      response.once('drain', () => {
        delete follower.fullSince;
        send([follower], now());
      });
    }
  }

  return {
    isFull: () => followers.size >= mostFollowers,
    /** Responds with the stream; `own` are parts for this follower only. Call it only if there is room. */
    follow(response: ServerResponse, own: object = {}) {
      const follower: Follower = { response, has: new Map() };
      followers.add(follower);
      response.once('close', () => followers.delete(follower));
      response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
      send([follower], [...inJson(own), ...now()]);
    },
    /** Call it after a possible change. It is sent soon, together with other changes. */
    changed() {
      latest = undefined;
      timer ??= setTimeout(() => {
        timer = undefined;
        if (followers.size > 0)
          send(
            [...followers].filter(({ fullSince }) => fullSince === undefined),
            now(),
          );
      }, everyMs);
    },
    end() {
      clearInterval(beat);
      clearTimeout(timer);
      for (const { response } of followers) response.end();
    },
  };
}
