// Asks a listener of the live page as a browser does, and as no browser would: with any Host, Origin and method.

import { type IncomingHttpHeaders, request } from 'node:http';
import type { RoomView } from '../../../workshop/page/protocol.ts';
import type { News } from './news.ts';

export interface Asked {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  /** Of a stream: nothing, since it has no end. */
  text: string;
}

/** Each request has a connection of its own. A stream is hung up on when it begins. */
export function ask(port: number, path: string, { method = 'GET', headers = {}, body }: Asked = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, (response) => {
      const { statusCode: status = 0, headers } = response;
      if (headers['content-type']?.startsWith('text/event-stream')) {
        asked.destroy();
        return resolve({ status, headers, text: '' });
      }
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status, headers, text }));
    });
    asked.on('error', reject);
    asked.end(body);
  });
}

/** The status of a refusal, and its code. */
export const problemOf = ({ status, text }: Answer) => [status, text === '' ? null : JSON.parse(text).code];

export interface Following {
  /** All that it was sent so far, the latest of each part. */
  parts: Record<string, unknown> & { room?: RoomView };
  /** The id that the server gave it. */
  id: string;
  hangUp: () => void;
}

/** Opens a stream, and resolves when everything has come. Each message is news. Rejects with the status when it is refused. */
export function follow(port: number, path: string, news: News): Promise<Following> {
  return new Promise((resolve, reject) => {
    const following: Following = { parts: {}, id: '', hangUp: () => asked.destroy() };
    const asked = request({ host: '127.0.0.1', port, path, agent: false }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`refused with ${response.statusCode}`));
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
        for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
          if (text.startsWith('data: ')) Object.assign(following.parts, JSON.parse(text.slice(6, end)));
          text = text.slice(end + 2);
        }
        following.id = String(following.parts['follower'] ?? '');
        if (following.parts.room !== undefined) resolve(following);
        news.tell();
      });
      response.on('error', () => {});
    });
    asked.on('error', reject);
    asked.end();
  });
}
