// Follows the events of a node: reads its event stream, and reopens it when it ends.

import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { type Push, pushSchema } from '../../../services/inventory/admin/contract.ts';
import { parsedOrNothing } from '../../evidence/answers.ts';
import type { OnPush } from '../../harness/target.ts';

/** How long after its end a stream is opened again, in milliseconds. */
const RECONNECT_MS = 200;
/** A node sends a line every second. One that is silent for so long, in milliseconds, stands still. */
const SILENT_MS = 3_000;

export interface FollowOptions {
  onPush: OnPush;
  /**
   * Called with why, a clause, when the stream has ended or could not be opened, or when the node has been silent for 3 s, and then not
   * again before the next push. What a silent node was about to send may come later.
   */
  onGone?(why: string): void;
  /** Ends the following when it aborts. */
  signal?: AbortSignal | undefined;
}

/** Follows the node whose admin API is at `labUrl`, whatever becomes of it, until it is closed. Never throws or rejects. */
export function followNode(labUrl: string, { onPush, onGone = () => {}, signal }: FollowOptions): { close(): void } {
  const closing = new AbortController();
  const { signal: closed } = closing;
  let isGone = false;
  let silence: NodeJS.Timeout | undefined;

  function close() {
    clearTimeout(silence);
    signal?.removeEventListener('abort', close);
    closing.abort();
  }

  function gone(why: string) {
    clearTimeout(silence);
    if (isGone || closed.aborted) return;
    isGone = true;
    onGone(why);
  }

  function heard() {
    isGone = false;
    clearTimeout(silence);
    silence = setTimeout(() => gone('it stopped sending'), SILENT_MS);
  }

  async function follow() {
    while (!closed.aborted) {
      gone(await followOnce());
      await sleep(RECONNECT_MS, undefined, { signal: closed }).catch(() => {});
    }
  }

  function followOnce(): Promise<string> {
    let isFirst = true;
    return readPushes(new URL('/events', labUrl), closed, (push) => {
      heard();
      onPush(push, isFirst);
      isFirst = false;
    });
  }

  if (signal?.aborted) closing.abort();
  signal?.addEventListener('abort', close);
  void follow();
  return { close };
}

/**
 * Reads one stream. Resolves with why it is over, as a clause. Not by `fetch`, which loses what was sent right before the other side
 * died.
 */
function readPushes(url: URL, signal: AbortSignal, onPush: (push: Push) => void): Promise<string> {
  return new Promise((resolve) => {
    const asked = request(url, { agent: false, signal }, (answer) => {
      const { statusCode } = answer.setEncoding('utf8');
      let rest = '';
      answer.on('data', (chunk: string) => {
        const lines = (rest + chunk).split('\n');
        rest = lines.pop() ?? '';
        if (statusCode !== 200 || asked.destroyed) return;
        const pushes = z.array(pushSchema).safeParse(lines.map(parsedOrNothing));
        for (const push of pushes.data ?? []) if (!signal.aborted) onPush(push);
        if (pushes.success) return;
        resolve(`it sent something that is not a line of a stream: ${lines.join().slice(0, 200)}`);
        asked.destroy();
      });
      answer.on('error', (error) => resolve(`its stream broke: ${error.message}`));
      answer.on('end', () =>
        resolve(statusCode === 200 ? 'its stream has ended' : `the response was ${statusCode}: ${rest.slice(0, 200)}`),
      );
    });
    asked.on('error', (error) => resolve(`it can't be followed: ${error.message}`)).end();
  });
}
