// What those who follow are sent: everything first, then what has changed, merged for as long as one is slow to read.

import type { ServerResponse } from 'node:http';
import type { LiveState, StageChoice } from '../contract.ts';

/** How often changes are sent at most, in milliseconds. */
const EVERY_MS = 100;
/** How often something is sent at least, in milliseconds, so that either side notices when the other has gone. */
const BEAT_MS = 10_000;
/** How long a follower may take to read what it was sent, in milliseconds. Then its connection is ended. */
const READ_LIMIT_MS = 20_000;
/** Some windows of a presenter, and those that a browser has not closed yet. */
const MOST_FOLLOWERS = 20;

/** Each member that is sent alone, as JSON, by where it stands in a message: `play`, `views.0.lock`. */
type Members = Map<string, string>;

interface Follower {
  response: ServerResponse;
  /** What it was sent last. */
  has: Members;
  /** Since when it has not read what it was sent, on the clock of this process. */
  fullSince?: number;
}

export interface StreamOptions {
  choices: StageChoice[];
  /** Called when something is to be sent. */
  read: () => LiveState;
  /** How long a follower may take to read what it was sent, in milliseconds. */
  readLimitMs?: number;
}

export type Stream = ReturnType<typeof createStream>;

/** The followers of a state. What one has not read yet is never kept: when it can be written to again it is sent what has changed. */
export function createStream({ choices, read, readLimitMs = READ_LIMIT_MS }: StreamOptions) {
  const followers = new Set<Follower>();
  let sentAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  const beat = setInterval(lookAfter, Math.min(BEAT_MS, readLimitMs / 2)).unref();

  function lookAfter() {
    const now = performance.now();
    for (const { response, fullSince } of followers) {
      if (fullSince === undefined) response.write(':\n\n');
      else if (now - fullSince > readLimitMs) response.destroy();
    }
  }

  function send(follower: Follower, message: string) {
    const { response } = follower;
    if (response.write(`data: ${message}\n\n`)) return;
    follower.fullSince = performance.now();
    response.once('drain', () => {
      delete follower.fullSince;
      sendChanges(follower, membersOf(read()));
    });
  }

  function sendChanges(follower: Follower, members: Members) {
    const message = messageOf(follower.has, members);
    follower.has = members;
    if (message !== undefined) send(follower, message);
  }

  function sendToAll() {
    timer = undefined;
    sentAt = performance.now();
    if (followers.size === 0) return;
    const members = membersOf(read());
    for (const follower of followers) if (follower.fullSince === undefined) sendChanges(follower, members);
  }

  return {
    /** Answers a request with the stream. Returns false when too many follow already. */
    follow(response: ServerResponse): boolean {
      if (followers.size >= MOST_FOLLOWERS) return false;
      const state = read();
      const follower: Follower = { response, has: membersOf(state) };
      followers.add(follower);
      response.once('close', () => followers.delete(follower));
      response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
      send(follower, JSON.stringify({ type: 'all', choices, state }));
      return true;
    },
    /** Something may have changed. It is sent soon, with all else that changes until then. */
    changed() {
      timer ??= setTimeout(sendToAll, Math.max(0, sentAt + EVERY_MS - performance.now()));
    },
    count: () => followers.size,
    end() {
      clearInterval(beat);
      clearTimeout(timer);
      for (const { response } of followers) response.end();
    },
  };
}

function membersOf({ views, ...rest }: LiveState): Members {
  const ofViews = views.flatMap((view, place) =>
    Object.entries(view).map(([name, value]) => [`views.${place}.${name}`, JSON.stringify(value)] as const),
  );
  return new Map([...Object.entries(rest).map(([name, value]) => [name, JSON.stringify(value)] as const), ...ofViews]);
}

/** What is new, as a message: a view of which nothing has changed is empty, one that is gone is null. Undefined when nothing is new. */
function messageOf(before: Members, now: Members): string | undefined {
  const changed = [...now].filter(([name, json]) => before.get(name) !== json);
  const places = Math.max(placesIn(before), placesIn(now));
  if (changed.length === 0 && placesIn(before) === placesIn(now)) return undefined;
  const views = Array.from({ length: places }, (_, place) => {
    if (place >= placesIn(now)) return 'null';
    const start = `views.${place}.`;
    const own = changed.filter(([name]) => name.startsWith(start));
    return `{${own.map(([name, json]) => `${JSON.stringify(name.slice(start.length))}:${json}`).join()}}`;
  });
  const rest = changed.filter(([name]) => !name.startsWith('views.'));
  const members = rest.map(([name, json]) => `${JSON.stringify(name)}:${json}`);
  return `{${['"type":"changed"', ...members, `"views":[${views.join()}]`].join()}}`;
}

function placesIn(members: Members): number {
  return new Set([...members.keys()].flatMap((name) => /^views\.(\d+)/.exec(name)?.[1] ?? [])).size;
}
