// The line from the server: messages come in, and a line that breaks is opened again.

import type { Message } from '../contract.ts';
import { streamPath } from './own-vote.ts';
import { problemIn } from './problem.ts';

/** A sentence is why the server refuses to open it. */
export type LineState = 'connecting' | 'open' | 'broken' | 'no-token' | (string & {});

/** How long the page waits before it opens a line again that the browser has given up, in milliseconds. */
const RETRY_MS = 2_000;

/**
 * Opens the line for as long as the page lives. After a break the server sends everything again. One whose token is not known there has
 * been started anew: it is asked no more.
 */
export function openStream(token: string, onMessage: (message: Message) => void, onLine: (state: LineState) => void) {
  const path = streamPath(token);
  const source = new EventSource(path);
  source.onopen = () => onLine('open');
  source.onmessage = ({ data }: MessageEvent<string>) => onMessage(JSON.parse(data) as Message);
  source.onerror = async () => {
    onLine('broken');
    // The browser tries again by itself, but not after an answer with an error, of which it tells nothing.
    if (source.readyState !== EventSource.CLOSED) return;
    const response = await fetch(path).catch(() => undefined);
    if (response && !response.ok) onLine(await problemIn(response));
    else void response?.body?.cancel();
    if (response?.status !== 403) setTimeout(() => openStream(token, onMessage, onLine), RETRY_MS);
  };
}
