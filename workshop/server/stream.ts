// What those who follow are sent, as server-sent events: an object with the parts that have changed, each whole.

import type { ServerResponse } from 'node:http';

/** How often something is sent at least, in milliseconds, so that either side notices when the other has gone. */
const BEAT_MS = 10_000;
/** How long a follower may take to read what it was sent, in milliseconds. Then its connection is ended. */
const READ_LIMIT_MS = 20_000;

interface Follower {
  response: ServerResponse;
  /** The parts that it was sent, as JSON. */
  has: Map<string, string>;
  /** Since when it has not read what it was sent, on the clock of this process. */
  fullSince?: number;
}

/** Parts by their names, as JSON. */
type Parts = [name: string, json: string][];
const inJson = (parts: object): Parts => Object.entries(parts).map(([name, value]) => [name, JSON.stringify(value)]);

export interface StreamOptions {
  /** The parts by their names. Called when something is to be sent. */
  read: () => object;
  /** How often changes are sent at most, in milliseconds. */
  everyMs: number;
  mostFollowers: number;
}

export type Stream = ReturnType<typeof createStream>;

/** The followers of a state. What one has not read yet is never kept: when it can be written to again it is sent what is new by then. */
export function createStream({ read, everyMs, mostFollowers }: StreamOptions) {
  const followers = new Set<Follower>();
  let timer: NodeJS.Timeout | undefined;
  /** All parts as they are now: made once for all who follow. */
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
    /** Answers a request with the stream; `own` are parts that this follower alone is sent. To be asked when it is not full. */
    follow(response: ServerResponse, own: object = {}) {
      const follower: Follower = { response, has: new Map() };
      followers.add(follower);
      response.once('close', () => followers.delete(follower));
      response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
      send([follower], [...inJson(own), ...now()]);
    },
    /** Something may have changed. It is sent soon, with all else that changes until then. */
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
