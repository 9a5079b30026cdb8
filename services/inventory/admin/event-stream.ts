// Pushes a node's events to its followers, as JSON lines, until the node or the client closes the stream.

import type { ServerResponse } from 'node:http';
import { ProblemError } from '../problem.ts';
import type { NodeState } from '../sale/contract.ts';
import { type History, now } from '../sale/history.ts';
import type { Push } from './contract.ts';

export const MAX_STREAMS = 8;
/** How often new events are pushed, in milliseconds. */
const PUSH_MS = 10;
/** The longest time between two lines, in milliseconds: it tells a dead node from an idle one. */
const HEARTBEAT_MS = 1_000;
/** The most events in one line: writing more would delay the sales. */
const EVENTS_IN_LINE = 1_000;
/** How much a client may leave unread in this process, in bytes. Later events wait in the history. */
const MAX_UNTAKEN_BYTES = 256_000;

export type EventStreams = ReturnType<typeof createEventStreams>;

/** The followers of this node. Each reads the history by itself, so without followers this costs nothing. */
export function createEventStreams(history: History, state: () => NodeState) {
  const streams = new Set<Stream>();
  let isOver = false;

  return {
    /**
     *
     * Sends the whole history, then new events. A client that has read nothing for a second makes room for a new one. Throws
     * ProblemError TOO_MANY_STREAMS, and SHUTTING_DOWN when they have ended.
     *
     */
    open(response: ServerResponse) {
      if (isOver) throw new ProblemError('SHUTTING_DOWN', 'This node is stopping and accepts no more event streams.');
      const tooMany = `${MAX_STREAMS} clients already follow this node. Try again when one of them has disconnected.`;
      if (streams.size >= MAX_STREAMS) {
        const deaf = [...streams].find((stream) => stream.isDeaf());
        if (deaf === undefined) throw new ProblemError('TOO_MANY_STREAMS', tooMany);
        deaf.hangUp();
        streams.delete(deaf);
      }
      const stream = openStream(response, history, state);
      streams.add(stream);
      response.on('close', () => streams.delete(stream));
    },
    /** Sends new events at once, before they are dropped or reported elsewhere. */
    push() {
      for (const stream of streams) stream.push();
    },
    /** Ends every stream, with the new events as its last line, and refuses new streams. */
    end() {
      isOver = true;
      for (const stream of streams) stream.end();
    },
  };
}

type Stream = ReturnType<typeof openStream>;

function openStream(response: ServerResponse, history: History, state: () => NodeState) {
  let cursor: number | undefined;
  let sentState = '';
  let sentAt = Number.NEGATIVE_INFINITY;

  response.writeHead(200, { 'Content-Type': 'application/x-ndjson', 'Cache-Control': 'no-store' });
  const looking = setInterval(push, PUSH_MS);
  response.on('close', () => clearInterval(looking));
  response.on('drain', push);
  push();

  function isBehind() {
    return response.writableLength > MAX_UNTAKEN_BYTES;
  }

  function push() {
    while (!response.writableEnded && !response.destroyed && !isBehind()) {
      const { events, dropped, cleared, next } = history.read(cursor, EVENTS_IN_LINE);
      const [present, at] = [state(), now()];
      const presentState = JSON.stringify(present);
      const hasChanged = presentState !== sentState;
      const isNews = events.length > 0 || dropped > 0 || cleared || hasChanged;
      if (!isNews && at - sentAt < HEARTBEAT_MS) return;
      [cursor, sentState, sentAt] = [next, presentState, at];
      const line: Push = { at, events, dropped, cleared, ...(hasChanged && { state: present }) };
      // Not corked it would leave this process at the end of the turn: after an answer that is given in it.
      response.cork();
      response.write(`${JSON.stringify(line)}\n`);
      response.uncork();
    }
  }

  return {
    push,
    /** True if the client has read nothing for one heartbeat. A slow client gets more as soon as it has read everything. */
    isDeaf: () => isBehind() && now() - sentAt >= HEARTBEAT_MS,
    hangUp: () => response.destroy(),
    end() {
      push();
      clearInterval(looking);
      response.end();
    },
  };
}
