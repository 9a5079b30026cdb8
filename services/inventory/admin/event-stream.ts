// Pushes what a node records to those who follow it: a line of JSON after the other, until one of the two hangs up.

import type { ServerResponse } from 'node:http';
import { ProblemError } from '../problem.ts';
import type { NodeState } from '../sale/contract.ts';
import { type History, now } from '../sale/history.ts';
import type { Push } from './contract.ts';

export const MAX_STREAMS = 8;
/** What is new is pushed so often, in milliseconds. */
const PUSH_MS = 10;
/** A line comes so often at least, in milliseconds, so that a node that is dead is known from one that has nothing to say. */
const HEARTBEAT_MS = 1_000;
/** How many events a line has at most: what takes longer to write would keep the sales waiting. */
const EVENTS_IN_LINE = 1_000;
/** How much may wait in this process to be taken, in bytes: what is behind it waits in the history. */
const MAX_UNTAKEN_BYTES = 256_000;

export type EventStreams = ReturnType<typeof createEventStreams>;

/** Those who follow this node. Each reads the history by itself, so while nobody does they cost nothing. */
export function createEventStreams(history: History, state: () => NodeState) {
  const streams = new Set<Stream>();
  let isOver = false;

  return {
    /**
     * Sends all that the history has, then what is new. One who has taken nothing for a second
     * makes room. Throws ProblemError TOO_MANY_STREAMS, and SHUTTING_DOWN when they have ended.
     */
    open(response: ServerResponse) {
      if (isOver) throw new ProblemError('SHUTTING_DOWN', 'This node is stopping, and nobody may follow it any more.');
      const tooMany = `${MAX_STREAMS} follow this node already. Try again when one of them has hung up.`;
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
    /** Sends what is new at once: before it is forgotten, or told elsewhere. */
    push() {
      for (const stream of streams) stream.push();
    },
    /** Ends every stream, with what is new as its last line, and refuses those to come. */
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
    /** True when it has taken nothing for the time of a heartbeat. One who is slow is sent more as soon as it has taken all. */
    isDeaf: () => isBehind() && now() - sentAt >= HEARTBEAT_MS,
    hangUp: () => response.destroy(),
    end() {
      push();
      clearInterval(looking);
      response.end();
    },
  };
}
