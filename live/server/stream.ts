// What those who follow are sent: everything first, then what has changed, merged for as long as one is slow to read.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { LiveState, Message, StageChoice } from '../contract.ts';
import { changesBetween, type Members, membersOf } from './members.ts';
import { type Bytes, bytesOf, gzipBeginning } from './packed.ts';

/** How often changes are sent at most, in milliseconds. */
const EVERY_MS = 100;
/** How often something is sent at least, in milliseconds, so that either side notices when the other has gone. */
const BEAT_MS = 10_000;
/** How long a follower may take to read what it was sent, in milliseconds. Then its connection is ended. */
const READ_LIMIT_MS = 20_000;
/** Some windows of a presenter, and those that a browser has not closed yet. */
const MOST_FOLLOWERS = 20;

interface Follower {
  response: ServerResponse;
  /** What it was sent last. */
  has: Members;
  /** It reads gzip. */
  isPacked: boolean;
  /** Since when it has not read what it was sent, on the clock of this process. */
  fullSince?: number;
}

export interface StreamOptions {
  choices: StageChoice[];
  /** Called when something is to be sent. */
  read: () => LiveState;
  /** How often changes are sent at most, in milliseconds. */
  everyMs?: number;
  mostFollowers?: number;
  /** Compresses for those who read gzip: for a network that many share. */
  packs?: boolean;
  /** How long a follower may take to read what it was sent, in milliseconds. */
  readLimitMs?: number;
}

export type Stream = ReturnType<typeof createStream>;

/** The followers of a state. What one has not read yet is never kept: when it can be written to again it is sent what has changed. */
export function createStream(options: StreamOptions) {
  const { read, everyMs = EVERY_MS, mostFollowers = MOST_FOLLOWERS, readLimitMs = READ_LIMIT_MS } = options;
  /** It is the same for all, and large: nobody gets a copy. */
  const choices = bytesOf(JSON.stringify(options.choices));
  const nothing = bytesOf(':\n\n');
  const followers = new Set<Follower>();
  let sentAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  const beat = setInterval(lookAfter, Math.min(BEAT_MS, readLimitMs / 2)).unref();

  function lookAfter() {
    const now = performance.now();
    for (const { response, isPacked, fullSince } of followers) {
      if (fullSince === undefined) response.write(nothing(isPacked));
      else if (now - fullSince > readLimitMs) response.destroy();
    }
  }

  function send(follower: Follower, ...pieces: Bytes[]) {
    const { response, isPacked } = follower;
    response.cork();
    const isTaken = pieces.map((piece) => response.write(piece(isPacked))).every(Boolean);
    response.uncork();
    if (isTaken) return;
    follower.fullSince = performance.now();
    response.once('drain', () => {
      delete follower.fullSince;
      sendChanges([follower]);
    });
  }

  /** Those who were sent the same last are sent the same now: it is made once for all of them. */
  function sendChanges(ready: Iterable<Follower>) {
    const members = membersOf(read());
    const messages = new Map<Members, Bytes | undefined>();
    for (const follower of ready) {
      const { has } = follower;
      if (!messages.has(has)) messages.set(has, changesAsEvent(has, members));
      const message = messages.get(has);
      follower.has = members;
      if (message !== undefined) send(follower, message);
    }
  }

  function sendToAll() {
    timer = undefined;
    sentAt = performance.now();
    if (followers.size > 0) sendChanges([...followers].filter(({ fullSince }) => fullSince === undefined));
  }

  return {
    isFull: () => followers.size >= mostFollowers,
    /** Answers a request with the stream; `first` is sent before everything. Returns false when too many follow already. */
    follow(response: ServerResponse, first?: Message): boolean {
      if (followers.size >= mostFollowers) return false;
      const state = read();
      const isPacked = (options.packs ?? false) && readsGzip(response.req);
      const follower: Follower = { response, has: membersOf(state), isPacked };
      followers.add(follower);
      response.once('close', () => followers.delete(follower));
      response.writeHead(200, {
        'Content-Type': 'text/event-stream',
        'Cache-Control': 'no-store',
        ...(isPacked && { 'Content-Encoding': 'gzip' }),
      });
      if (isPacked) response.write(gzipBeginning);
      const begin = `${first === undefined ? '' : asEvent(JSON.stringify(first))}data: {"type":"all","choices":`;
      send(follower, bytesOf(begin), choices, bytesOf(`,"state":${JSON.stringify(state)}}\n\n`));
      return true;
    },
    /** Something may have changed. It is sent soon, with all else that changes until then. */
    changed() {
      timer ??= setTimeout(sendToAll, Math.max(0, sentAt + everyMs - performance.now()));
    },
    count: () => followers.size,
    end() {
      clearInterval(beat);
      clearTimeout(timer);
      for (const { response } of followers) response.end();
    },
  };
}

function asEvent(json: string): string {
  return `data: ${json}\n\n`;
}

function changesAsEvent(before: Members, now: Members): Bytes | undefined {
  const message = changesBetween(before, now);
  return message === undefined ? undefined : bytesOf(asEvent(message));
}

function readsGzip({ headers }: IncomingMessage): boolean {
  return /\bgzip\b/.test(`${headers['accept-encoding'] ?? ''}`);
}
