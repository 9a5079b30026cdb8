// The client of the live page's server: the received data, and the commands.

import { useEffect, useState } from 'preact/hooks';
import type { Command, FollowerParts, PresenterParts, Vote } from '../protocol.ts';
import { keepText, readKept } from './kept.ts';

/** The delay before the stream is reopened, in milliseconds. */
const AGAIN_MS = 1_000;
/** The storage key of a follower's id, for the room with this token. */
const keyOf = (token: string) => `lockstep ${token}`;

export type Live<Parts = PresenterParts> = ReturnType<typeof connect<Parts>>;

/** Follows the server of this page. The token is after the # of the address. */
export function connect<Parts = PresenterParts>() {
  const token = location.hash.slice(1);
  const lookers = new Set<() => void>();
  let parts: Partial<Parts & FollowerParts> = {};
  let isLost = false;
  let problem: string | undefined;

  function tell() {
    for (const look of lookers) look();
  }

  function open() {
    const id = readKept(keyOf(token));
    const source = new EventSource(`/stream?${new URLSearchParams({ token, ...(id && { id }) })}`);
    source.onmessage = ({ data }) => {
      parts = { ...parts, ...JSON.parse(data) };
      isLost = false;
      if (parts.follower !== undefined && parts.follower !== id) keepText(keyOf(token), parts.follower);
      tell();
    };
    source.onerror = () => {
      source.close();
      isLost = true;
      tell();
      setTimeout(open, AGAIN_MS);
    };
  }
  open();

  /** Resolves with true if it was carried out; otherwise see `problem`. */
  async function post(path: string, body: Command | Vote, headers = {}): Promise<boolean> {
    const asked = { 'Content-Type': 'application/json', Authorization: `Bearer ${token}`, ...headers };
    const answer = await fetch(path, { method: 'POST', headers: asked, body: JSON.stringify(body) }).catch(
      () => undefined,
    );
    const refusal = answer?.ok === false ? await answer.json() : undefined;
    problem = refusal?.detail;
    tell();
    return answer?.ok ?? false;
  }

  return {
    parts: () => parts,
    isLost: () => isLost,
    /** Why the last command was refused, as a sentence. */
    problem: () => problem,
    command: (command: Command) => post('/command', command),
    vote: (vote: Vote) => post('/vote', vote, { 'Follower-Id': parts.follower ?? '' }),
    /** Calls `look` on every update. Returns a function to stop. */
    watch(look: () => void) {
      lookers.add(look);
      return () => void lookers.delete(look);
    },
    /** Resolves once the condition is true. */
    until(isSo: (now: typeof parts) => boolean): Promise<void> {
      return new Promise((resolve) => {
        const look = () => {
          if (!isSo(parts)) return;
          lookers.delete(look);
          resolve();
        };
        lookers.add(look);
        look();
      });
    },
  };
}

/** The received data. Components that use it are redrawn on updates. */
export function useLive<Parts>(live: Live<Parts>) {
  const [, draw] = useState(0);
  useEffect(() => live.watch(() => draw((count) => count + 1)), [live]);
  return live.parts();
}
