// The line from the server: messages come in, and a line that breaks is opened again.

import type { Message } from '../contract.ts';
import { streamPath } from './own-vote.ts';

export type LineState = 'connecting' | 'open' | 'broken' | 'no-token';

/** How long the page waits before it opens a line again that the browser has given up, in milliseconds. */
const RETRY_MS = 2_000;

/** Opens the line for as long as the page lives. After a break the server sends everything again. */
export function openStream(token: string, onMessage: (message: Message) => void, onLine: (state: LineState) => void) {
  const source = new EventSource(streamPath(token));
  source.onopen = () => onLine('open');
  source.onmessage = ({ data }: MessageEvent<string>) => onMessage(JSON.parse(data) as Message);
  source.onerror = () => {
    onLine('broken');
    // The browser tries again by itself, but not after an answer with an error.
    if (source.readyState !== EventSource.CLOSED) return;
    setTimeout(() => openStream(token, onMessage, onLine), RETRY_MS);
  };
}
